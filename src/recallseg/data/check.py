"""Find everything that is wrong with a dataset before hours of training are spent on it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from recallseg.data.dataset import NOT_TURNED, Listing, Mask, is_unturned, may_be_unturned
from recallseg.data.decoding import read_mask, read_photo
from recallseg.data.folder import has_pairs
from recallseg.data.importing.detecting import foreign_format
from recallseg.data.kinds import DATASETS, DatasetKind, kind_of
from recallseg.data.sizes import PhotoSizes
from recallseg.data.voc import LISTS
from recallseg.errors import RecallsegError
from recallseg.labels import BACKGROUND, VOID
from recallseg.progress import map_files

TWO_LEVELS = "; masks of 0 and 255 are for `recallseg data import SRC OUT --class NAME`"


@dataclass(frozen=True)
class Defect:
    """One thing that is wrong, and the file or class that it concerns."""

    kind: str
    subject: str
    detail: str
    is_certain: bool = True
    """If not, it is a warning: only a person can see whether it is wrong."""


@dataclass(frozen=True)
class CheckReport:
    """What a check looked at and the defects it found."""

    layout: str
    root: Path
    pairs: dict[str, int]
    defects: tuple[Defect, ...]
    warnings: tuple[Defect, ...]
    sizes: PhotoSizes
    """Of the photos that can be read."""


def detect_layout(root: Path) -> DatasetKind:
    """The kind of dataset at `root`, judged by its folders."""
    if not root.is_dir():
        raise RecallsegError(f"The folder {root} does not exist.")
    for inner in (root, root / "VOC2012", root / "VOCdevkit" / "VOC2012"):
        if (inner / LISTS).is_dir():
            return kind_of("voc")
    if (root / "annotations" / "training").is_dir():
        return kind_of("ade")
    if has_pairs(root):
        return kind_of("folder")
    if title := foreign_format(root):
        raise RecallsegError(
            f"{root} is a dataset of another kind ({title}); `recallseg data import {root} OUT` "
            "makes one of it that recallseg reads."
        )
    if (root / "masks").is_dir() or (root / "classes.txt").is_file():
        return kind_of("folder")
    layouts = ", ".join(name for name in DATASETS if name not in ("voc-mini", "toy"))
    raise RecallsegError(f"{root} is in none of the layouts that recallseg reads ({layouts}).")


def check_dataset(root: Path) -> CheckReport:
    """Look at every file of every split that training and evaluation use."""
    kind = detect_layout(root)
    root = kind.resolve(root)
    classes = kind.read_classes(root)
    names = [split for split in (kind.train, kind.val) if split in kind.splits(root)]
    defects = [
        Defect("missing split", split, f"{root} has no list or folder for it")
        for split in (kind.train,)
        if split not in names
    ]
    listings = {split: kind.listing(root, split) for split in names}
    mask_counts: Counter[int] = Counter()
    for split, listing in listings.items():
        defects += _list_defects(split, listing)
        paired = [
            stem for stem in listing.stems if stem in listing.photos and stem in listing.masks
        ]
        results = map_files(
            partial(_pair_defects, listing, len(classes)),
            list(dict.fromkeys(paired)),
            f"Checking {split}",
        )
        for labels, pair_defects in results:
            defects += pair_defects
            if split == kind.train:
                mask_counts.update(labels)
    defects += _stray_masks(listings)
    hint = TWO_LEVELS if set(mask_counts) == {BACKGROUND, VOID} else ""
    if kind.train in listings:
        defects += [
            Defect(
                "class never seen", name, f"no mask of '{kind.train}' holds label {number}{hint}"
            )
            for number, name in enumerate(classes)
            if number > 0 and not mask_counts[number]
        ]
    if len(listings) == 2:
        shared = set.intersection(*(set(listing.stems) for listing in listings.values()))
        defects += [
            Defect("in two splits", stem, "is listed for training and for validation")
            for stem in sorted(shared)
        ]
    counts = {split: len(listing.stems) for split, listing in listings.items()}
    certain = tuple(defect for defect in defects if defect.is_certain)
    warnings = tuple(defect for defect in defects if not defect.is_certain)
    photos = [
        listing.photos[stem]
        for listing in listings.values()
        for stem in listing.stems
        if stem in listing.photos
    ]
    sizes = PhotoSizes.of(photos)
    return CheckReport(kind.name, root, counts, certain, warnings, sizes)


def _list_defects(split: str, listing: Listing) -> Iterator[Defect]:
    for stem, what in listing.unpaired():
        yield Defect("unpaired file", stem, f"{what} ({split})")
    for stem, count in Counter(listing.stems).items():
        if count > 1:
            yield Defect("listed twice", stem, f"is {count} times in '{split}'")


def _stray_masks(listings: dict[str, Listing]) -> Iterator[Defect]:
    """Masks that no list names and that have no photo; photos without masks are common in VOC."""
    listed = {stem for listing in listings.values() for stem in listing.stems}
    masks = {stem for listing in listings.values() for stem in listing.masks}
    photos = {stem for listing in listings.values() for stem in listing.photos}
    for stem in sorted(masks - photos - listed):
        yield Defect("unpaired file", stem, "has a mask but no photo (in no list)")


def _pair_defects(listing: Listing, classes: int, stem: str) -> tuple[list[int], list[Defect]]:
    """The labels in one mask, and what is wrong with it and its photo."""
    defects: list[Defect] = []
    photo_path, mask_path = listing.photos[stem], listing.masks[stem]
    size: tuple[int, int] | None = None
    mask: Mask | None = None
    try:
        size = read_photo(photo_path).size
    except RecallsegError as error:
        defects.append(Defect("unreadable photo", photo_path.name, str(error)))
    try:
        mask = read_mask(mask_path)
    except RecallsegError as error:
        kind = "mask of many channels" if "channel" in str(error) else "unreadable mask"
        defects.append(Defect(kind, mask_path.name, str(error)))
        return [], defects
    if size is not None:
        defects += _size_defects(photo_path, size, mask_path, mask)
    labels = np.flatnonzero(np.bincount(mask.ravel(), minlength=VOID + 1)).tolist()
    if outside := [label for label in labels if classes <= label < VOID]:
        detail = f"holds {', '.join(map(str, outside))}; labels are 0–{classes - 1} and {VOID}"
        defects.append(Defect("label out of range", mask_path.name, detail))
    return labels, defects


def _size_defects(
    photo: Path, size: tuple[int, int], mask_path: Path, mask: Mask
) -> Iterator[Defect]:
    """Whether a mask lies over its photo as EXIF turns it."""
    sizes = f"mask {mask.shape[1]}×{mask.shape[0]} px, photo {size[0]}×{size[1]} px"
    if is_unturned(photo, size, mask):
        yield Defect("mask not turned", mask_path.name, f"{sizes}; {NOT_TURNED}")
    elif size != (mask.shape[1], mask.shape[0]):
        yield Defect("size mismatch", mask_path.name, sizes)
    elif may_be_unturned(photo, size, mask):
        detail = "its photo is turned by EXIF; make sure the mask is turned too"
        yield Defect("perhaps not turned", mask_path.name, detail, is_certain=False)
