"""Losses are pure functions: tensors in, tensor out."""

from recallseg.losses.cross_entropy import cross_entropy

__all__ = ["cross_entropy"]
