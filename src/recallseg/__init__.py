"""Semantic segmentation that keeps learning new classes without keeping the old images."""

from typing import TYPE_CHECKING, Any

from recallseg.version import __version__
from recallseg.waiting import wait_passively

if TYPE_CHECKING:
    from recallseg.api import Learner, Prediction, ProgressReport, Segmentation

__all__ = ["Learner", "Prediction", "ProgressReport", "Segmentation", "__version__"]

wait_passively()


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import torch only when something that needs it is asked for."""
    if name in __all__:
        from recallseg import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
