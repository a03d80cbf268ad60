"""The datasets recallseg knows by name, and where their files are looked for."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recallseg.data import ade, folder, voc
from recallseg.data.dataset import Listing, SegmentationDataset
from recallseg.data.toy import drawn_world
from recallseg.errors import RecallsegError, unknown_name

DATA_VARIABLE = "RECALLSEG_DATA"
FIT, TUNE = "fit", "tune"
"""Four fifths of the training photos to learn from, and one fifth to choose settings on."""


@dataclass(frozen=True)
class DatasetKind:
    """One way a dataset lies on disk, with its default splits and how people get it."""

    name: str
    listing: Callable[[Path, str], Listing]
    read_classes: Callable[[Path], tuple[str, ...]]
    splits: Callable[[Path], tuple[str, ...]]
    train: str
    val: str
    how_to_get: str
    fixed_classes: tuple[str, ...] | None = None
    """The class names where every copy of the dataset has the same ones."""
    resolve: Callable[[Path], Path] = Path
    """From a folder that people name to the one that the reader opens."""
    unlabelled: str = "background"
    """What the label 0 is, unless `data.unlabelled` says otherwise."""
    make: Callable[[], Path] | None = None
    """Makes the dataset where there is no folder of it, and gives its place."""


_VOC_FILES = "JPEGImages/, SegmentationClassAug/ and ImageSets/Segmentation/"


def _voc_kind(name: str, how_to_get: str) -> DatasetKind:
    return DatasetKind(
        name=name,
        listing=voc.listing,
        read_classes=lambda _: voc.CLASSES,
        splits=voc.splits,
        train="train_aug",
        val="val",
        how_to_get=how_to_get,
        fixed_classes=voc.CLASSES,
        resolve=voc.resolve_root,
    )


DATASETS: dict[str, DatasetKind] = {
    kind.name: kind
    for kind in (
        _voc_kind(
            "voc",
            "run `recallseg data get voc`; or unpack the official VOCtrainval_11-May-2012 archive, "
            "add the SBD masks as SegmentationClassAug/ and the list train_aug.txt, so that it "
            f"holds {_VOC_FILES}",
        ),
        _voc_kind(
            "voc-mini",
            "make it from the full set with `recallseg data shrink VOC_ROOT OUT "
            "--longer-side 256 --train 4232 --val 725 --seed 0`",
        ),
        DatasetKind(
            name="ade",
            listing=ade.listing,
            read_classes=lambda _: ade.CLASSES,
            splits=lambda _: ("training", "validation"),
            train="training",
            val="validation",
            how_to_get="run `recallseg data get ade`; or unpack the official "
            "ADEChallengeData2016 archive, so that it holds "
            "images/training, annotations/training, images/validation and annotations/validation",
            fixed_classes=ade.CLASSES,
            unlabelled="void",
        ),
        DatasetKind(
            name="folder",
            listing=folder.listing,
            read_classes=folder.read_classes,
            splits=folder.splits,
            train="train",
            val="val",
            how_to_get="put photos in images/, masks of the same stems in masks/ and the class "
            "names, one per line in the order of their ids, in classes.txt",
        ),
        DatasetKind(
            name="toy",
            listing=folder.listing,
            read_classes=folder.read_classes,
            splits=folder.splits,
            train="train",
            val="val",
            how_to_get="do nothing: it is drawn into the cache when first used",
            fixed_classes=voc.CLASSES,
            make=drawn_world,
        ),
    )
}


def kind_of(name: str) -> DatasetKind:
    """The dataset kind called `name`; an unknown one lists those there are."""
    if name not in DATASETS:
        raise unknown_name("dataset", name, DATASETS)
    return DATASETS[name]


def find_root(name: str, root: Path | None = None) -> Path:
    """Where dataset `name` lies: `root`, or `$RECALLSEG_DATA/name`; missing ones say what to do.

    One that can be made needs neither, and is made here when it is asked for the first time.
    """
    kind = kind_of(name)
    if root is not None:
        folder = root
    elif kind.make is not None:
        folder = kind.make()
    elif os.environ.get(DATA_VARIABLE):
        folder = data_folder(name)
    else:
        raise RecallsegError(
            f"No folder given for the dataset '{name}': set {DATA_VARIABLE} to the folder that "
            f"holds '{name}', or give its root. To get it, {kind.how_to_get}."
        )
    if not folder.is_dir():
        raise RecallsegError(
            f"The dataset '{name}' is not at {folder}. To get it, {kind.how_to_get}."
        )
    return kind.resolve(folder)


def data_folder(name: str) -> Path:
    """The place of a dataset in the folder of datasets, whether it is there or not."""
    base = os.environ.get(DATA_VARIABLE)
    if not base:
        raise RecallsegError(f"Set {DATA_VARIABLE} to the folder of datasets, or name one with -o.")
    return Path(base).expanduser() / name


def open_dataset(name: str, split: str, root: Path | None = None) -> SegmentationDataset:
    """Open a split of a dataset, or its default one where `split` is `train` or `val`.

    `tune` is a fifth of the training photos, the same one always, and `fit` is all others: to
    choose settings without a look at the photos that results are reported on.
    """
    kind, folder = kind_of(name), find_root(name, root)
    parts = dict.fromkeys(("train", FIT, TUNE), kind.train)
    pairs = kind.listing(folder, {"val": kind.val, **parts}.get(split, split)).pairs()
    if split in (FIT, TUNE):
        pairs = tuple(pair for pair in pairs if is_held_out(pair.stem) == (split == TUNE))
    split = {"train": kind.train, "val": kind.val}.get(split, split)
    if not pairs:
        raise RecallsegError(f"The split '{split}' of {folder} holds no photos.")
    return SegmentationDataset(name, folder, split, kind.read_classes(folder), pairs)


def is_held_out(stem: str) -> bool:
    """Whether a training photo is among the fifth to choose settings on."""
    return int.from_bytes(hashlib.sha256(stem.encode()).digest()) % 5 == 0


def found_path(path: Path) -> Path:
    """A path as it is, or in the folder of datasets if it is relative and only there."""
    base = os.environ.get(DATA_VARIABLE)
    if not path.exists() and not path.is_absolute() and base:
        return Path(base).expanduser() / path
    return path
