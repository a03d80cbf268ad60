"""Samples of classes that were learned before: replayed and labelled, or stored."""

from recallseg.engine.old_classes.old_classes import OldClasses

__all__ = ["OldClasses"]
