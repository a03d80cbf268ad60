"""The splits of a run, with the dataset's label 0 as the run's settings want it seen."""

from pathlib import Path

from recallseg.config import DataConfig
from recallseg.data.dataset import SegmentationDataset
from recallseg.data.kinds import kind_of, open_dataset
from recallseg.errors import RecallsegError


def open_training(data: DataConfig) -> SegmentationDataset:
    """The photos to learn from."""
    return seen_in_training(open_dataset(data.name, data.learned, data.root), data)


def open_validation(
    data: DataConfig, split: str | None = None, root: Path | None = None
) -> SegmentationDataset:
    """The photos to be measured on: those of the settings, or another split or folder."""
    apart = root or data.val_root
    if split is None:
        split = data.val if apart is None else validation_split(data, apart)
        if apart is None and data.name == "folder" and not _lists_validation(data):
            raise RecallsegError(
                f"The photos in {data.root} list none to be measured on (val.txt), and no others "
                "were named (--val of `recallseg learn`, --root of `evaluate`)."
            )
    opened = open_dataset(data.name, split, apart or data.root)
    return seen_in_evaluation(opened, data)


def _lists_validation(data: DataConfig) -> bool:
    return data.root is None or data.val != "val" or "val" in kind_of(data.name).splits(data.root)


def validation_split(data: DataConfig, root: Path) -> str:
    """What to be measured on of a folder that is not the training one: its `val`, or all of it."""
    kind = kind_of(data.name)
    has_none = root.is_dir() and kind.val not in kind.splits(kind.resolve(root))
    return data.train if has_none else data.val


def seen_in_training(dataset: SegmentationDataset, data: DataConfig) -> SegmentationDataset:
    """A dataset whose unlabelled pixels are what training takes them for."""
    return dataset.with_unlabelled_void() if _unlabelled(dataset, data) == "void" else dataset


def seen_in_evaluation(dataset: SegmentationDataset, data: DataConfig) -> SegmentationDataset:
    """A dataset whose unlabelled pixels are what evaluation takes them for."""
    scored = _unlabelled(dataset, data) == "background"
    return dataset if scored else dataset.with_unlabelled_void()


def _unlabelled(dataset: SegmentationDataset, data: DataConfig) -> str:
    return data.unlabelled or kind_of(dataset.name).unlabelled
