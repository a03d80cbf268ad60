"""What all parts of a run share: devices, progress, opened data and the cache."""

from recallseg.engine.session.session import Session

__all__ = ["Session"]
