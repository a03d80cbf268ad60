"""Photos and masks: one interface over VOC, ADE20K and your own folders."""

from typing import TYPE_CHECKING, Any

from recallseg.data.dataset import Pair, SegmentationDataset

if TYPE_CHECKING:
    from recallseg.data.kinds import DATASETS, DatasetKind, find_root, kind_of, open_dataset

__all__ = [
    "DATASETS",
    "DatasetKind",
    "Pair",
    "SegmentationDataset",
    "find_root",
    "kind_of",
    "open_dataset",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import all kinds of datasets, and their settings, only when one is opened.

    A process that decodes photos must start quickly.
    """
    if name in __all__:
        from recallseg.data import kinds

        return getattr(kinds, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
