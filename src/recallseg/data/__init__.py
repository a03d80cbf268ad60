"""Photos and masks: one interface over VOC, ADE20K and your own folders."""

from recallseg.data.dataset import Pair, SegmentationDataset
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
