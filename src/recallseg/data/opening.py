"""The splits of a run, with the dataset's label 0 as the run's settings want it seen."""

from pathlib import Path

from recallseg.config import DataConfig
from recallseg.data.dataset import SegmentationDataset
from recallseg.data.kinds import kind_of, open_dataset


def open_training(data: DataConfig) -> SegmentationDataset:
    """The photos to learn from."""
    return seen_in_training(open_dataset(data.name, data.learned, data.root), data)


def open_validation(
    data: DataConfig, split: str | None = None, root: Path | None = None
) -> SegmentationDataset:
    """The photos to be measured on: those of the settings, or another split or folder."""
    opened = open_dataset(data.name, split or data.val, root or data.root)
    return seen_in_evaluation(opened, data)


def seen_in_training(dataset: SegmentationDataset, data: DataConfig) -> SegmentationDataset:
    """A dataset whose unlabelled pixels are what training takes them for."""
    return dataset.with_unlabelled_void() if _unlabelled(dataset, data) == "void" else dataset


def seen_in_evaluation(dataset: SegmentationDataset, data: DataConfig) -> SegmentationDataset:
    """A dataset whose unlabelled pixels are what evaluation takes them for."""
    scored = _unlabelled(dataset, data) == "background"
    return dataset if scored else dataset.with_unlabelled_void()


def _unlabelled(dataset: SegmentationDataset, data: DataConfig) -> str:
    return data.unlabelled or kind_of(dataset.name).unlabelled
