"""The one interface of all readers: photos and masks, paired by file stem."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from PIL import Image

from recallseg.data.decoding import Mask as Mask
from recallseg.data.decoding import read_mask
from recallseg.data.decoding import read_photo as read_photo
from recallseg.data.upright import UPRIGHT, read_orientation, unturned
from recallseg.data.working_size import at_working_size, mask_at, working_size
from recallseg.errors import RecallsegError
from recallseg.files import content_key, file_digest
from recallseg.labels import VOID, check_class_count


@dataclass(frozen=True)
class Pair:
    """A photo and its mask, which share a file stem. A photo without a mask is all background."""

    stem: str
    photo: Path
    mask: Path | None = None

    def files(self) -> tuple[Path, ...]:
        """The photo, and the mask where there is one."""
        return (self.photo,) if self.mask is None else (self.photo, self.mask)

    def read(self) -> tuple[Image.Image, Mask]:
        """The RGB photo and the (H, W) mask."""
        photo = read_photo(self.photo)
        if self.mask is None:
            return photo, np.zeros((photo.height, photo.width), dtype=np.uint8)
        return photo, read_mask(self.mask)

    def read_mask(self) -> Mask:
        """The (H, W) mask alone; the photo is read only where it is needed for its size."""
        return self.read()[1] if self.mask is None else read_mask(self.mask)


@dataclass(frozen=True)
class Listing:
    """What a reader found on disk for one split, before it is known to be whole."""

    stems: tuple[str, ...]
    photos: Mapping[str, Path]
    masks: Mapping[str, Path]

    def unpaired(self) -> Iterator[tuple[str, str]]:
        """Every stem that lacks a partner, with what it lacks."""
        for stem in self.stems:
            if stem not in self.photos:
                yield stem, "has a mask but no photo" if stem in self.masks else "has no photo"
            elif stem not in self.masks:
                yield stem, "has a photo but no mask"

    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, in the order of the stems; a missing partner is an error."""
        if broken := list(self.unpaired()):
            shown = "; ".join(f"'{stem}' {what}" for stem, what in broken[:3])
            more = f" (and {len(broken) - 3} more)" if len(broken) > 3 else ""
            raise RecallsegError(
                f"Photos and masks do not pair up: {shown}{more}. "
                "`recallseg data check` lists every such file."
            )
        return tuple(Pair(stem, self.photos[stem], self.masks[stem]) for stem in self.stems)


@dataclass(frozen=True)
class SegmentationDataset:
    """A split of a dataset. Class ids are positions in `classes`; id 0 is the background."""

    name: str
    root: Path
    split: str
    classes: tuple[str, ...]
    pairs: tuple[Pair, ...] = field(repr=False)
    labels: tuple[int, ...] | None = field(default=None, repr=False)
    """What the labels on disk stand for, where those are not the places in `classes`."""
    longer_side: int | None = None
    """What photos are brought to when they are read; None for their own size."""

    def __post_init__(self) -> None:
        check_class_count(len(self.classes) - 1, f"The dataset {self.root}")

    def __len__(self) -> int:
        return len(self.pairs)

    def read(self, index: int) -> tuple[Image.Image, Mask]:
        """The RGB photo and the (H, W) mask number `index`, of equal size.

        A mask may be of the photo's own size or of the one that it is brought to.
        """
        pair = self.pairs[index]
        photo, mask = pair.read()
        size = working_size(photo.size, self.longer_side)
        if (mask.shape[1], mask.shape[0]) not in (photo.size, size):
            raise RecallsegError(
                f"The mask {pair.mask} is {mask.shape[1]}×{mask.shape[0]} px but its photo is "
                f"{photo.width}×{photo.height} px; {_size_advice(pair.photo, photo, mask)}."
            )
        small = at_working_size(photo, self.longer_side)
        return small, self._translated(mask_at(mask, size))

    def read_mask(self, index: int) -> Mask:
        """The (H, W) mask number `index` alone."""
        return self._translated(self.pairs[index].read_mask())

    def _translated(self, mask: Mask) -> Mask:
        """The labels on disk as places in `classes`."""
        return mask if self.labels is None else np.array(self.labels, dtype=np.uint8)[mask]

    def signature(self) -> str:
        """A hash that changes whenever a photo, a mask or the choice of them does.

        It is of their content: the same files have the same signature wherever they lie.
        """
        paths = [path for pair in self.pairs for path in (pair.photo, pair.mask)]
        files = [path and (path.name, file_digest(path)) for path in paths]
        size = () if self.longer_side is None else (self.longer_side,)
        return content_key(self.name, self.split, self.classes, self.labels, files, *size)

    def bytes_on_disk(self) -> int:
        """What the photos and masks take, once each."""
        return sum(path.stat().st_size for pair in self.pairs for path in pair.files())

    def rows(self, stems: Sequence[str]) -> list[int]:
        """The places of the named pairs."""
        row_of = {pair.stem: row for row, pair in enumerate(self.pairs)}
        return [row_of[stem] for stem in stems]

    def renamed(self, classes: Sequence[str], other: int) -> "SegmentationDataset":
        """The same photos with their labels as places in `classes`; other ones become `other`."""
        labels = np.full(256, other)
        labels[0], labels[VOID] = 0, VOID
        for label, name in enumerate(self.classes):
            if name in classes:
                labels[label] = classes.index(name)
        return replace(self, classes=tuple(classes), labels=tuple(labels.tolist()))

    def with_unlabelled_void(self) -> "SegmentationDataset":
        """The same photos with the label 0 on disk as void; what other labels stand for stays."""
        labels = range(256) if self.labels is None else self.labels
        return replace(self, labels=(VOID, *labels[1:]))

    def at(self, longer_side: int | None) -> "SegmentationDataset":
        """The same photos, brought to a size when they are read."""
        return replace(self, longer_side=longer_side)

    def subset(self, stems: Sequence[str]) -> "SegmentationDataset":
        """The same dataset with only the named pairs, in the given order."""
        return replace(self, pairs=tuple(self.pairs[row] for row in self.rows(stems)))


NOT_TURNED = "EXIF turns the photo and the mask lies as in the file, so turn the mask too"


def is_unturned(photo: Path, size: tuple[int, int], mask: Mask) -> bool:
    """Whether a mask has the size of its photo before EXIF turns it to `size`, and not after."""
    mask_size = (mask.shape[1], mask.shape[0])
    return mask_size != size and mask_size == unturned(size, read_orientation(photo))


def may_be_unturned(photo: Path, size: tuple[int, int], mask: Mask) -> bool:
    """Whether EXIF turns a photo, and the size of its mask cannot tell if it was turned too."""
    held = read_orientation(photo)
    return held != UPRIGHT and (mask.shape[1], mask.shape[0]) == size == unturned(size, held)


def _size_advice(path: Path, photo: Image.Image, mask: Mask) -> str:
    return NOT_TURNED if is_unturned(path, photo.size, mask) else "they must have the same size"
