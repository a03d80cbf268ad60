"""Masks as images: class ids, colours, or 0 and 255, and what JPEG has made of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from recallseg.data.dataset import Mask
from recallseg.data.decoding import image_size
from recallseg.data.importing.colours import Colour
from recallseg.data.importing.photo_files import MOST_PIXELS
from recallseg.data.importing.scenes import Skips
from recallseg.errors import RecallsegError
from recallseg.labels import BACKGROUND

LOSSY = ("JPEG", "WEBP")
MOST_LEVEL = 65535
"""The largest value of a mask of one channel."""
Codes = npt.NDArray[np.integer[Any]]
"""A pixel's value as one number: a level of grey, a place in a palette, or red · 65536 + …"""


@dataclass(frozen=True)
class ValueNames:
    """What the values of masks stand for, where they are single numbers and where colours."""

    numbers: Mapping[int, str] = field(default_factory=dict)
    colours: Mapping[Colour, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MaskImage:
    """A mask whose values stand for classes.

    Values that a lossy format has changed become the nearest one that has a name; anywhere else
    a value without a name is an error.
    """

    path: Path
    names: ValueNames

    def paint(self, size: tuple[int, int], ids: Mapping[str, int], skips: Skips) -> Mask:
        """The mask in class ids."""
        values, is_colour, is_lossy = _read_values(self.path, self.names)
        if is_colour:
            known = {_code(colour): name for colour, name in self.names.colours.items()}
        else:
            known = dict(self.names.numbers)
        pixels = np.bincount(values.ravel())
        codes = np.flatnonzero(pixels)
        strange = codes[~np.isin(codes, list(known))]
        nearest: Codes = strange
        if strange.size:
            if not is_lossy:
                raise RecallsegError(self._strange_values(strange, pixels[strange], is_colour))
            nearest = _nearest(strange, np.array(sorted(known)), is_colour)
            reason = "had no class's value, as it is lossy; snapped to the nearest"
            skips.add("mask pixel", reason, self.path, int(pixels[strange].sum()))
        labels = np.zeros(len(pixels), dtype=np.uint8)
        for code in np.intersect1d(codes, list(known)).tolist():
            labels[code] = ids[known[code]]
        labels[strange] = [ids[known[code]] for code in nearest.tolist()]
        return labels[values]

    def _strange_values(self, codes: Codes, pixels: Codes, is_colour: bool) -> str:
        largest = np.argsort(-pixels, kind="stable")[:3]
        shown = [
            f"{_shown(int(codes[place]), is_colour)} in {pixels[place]} px" for place in largest
        ]
        return (
            f"The mask {self.path} holds values that no class has: {', '.join(shown)}"
            f"{' …' if len(codes) > 3 else ''}; name all of them in the file of colours or classes."
        )


@dataclass(frozen=True)
class BinaryMask:
    """A mask of one class: 255 (or 1) where it is, 0 elsewhere."""

    path: Path
    name: str

    def paint(self, size: tuple[int, int], ids: Mapping[str, int], skips: Skips) -> Mask:
        """The mask in class ids; levels between 0 and 255 become the nearer one."""
        levels, is_colour, _ = _read_values(self.path, ValueNames(numbers={0: "", 255: ""}))
        if is_colour:
            raise RecallsegError(f"The mask {self.path} is in colour; --class needs 0 and 255.")
        is_small = int(levels.max(initial=0)) <= 1
        hits = levels > 0 if is_small else levels >= 128
        between = 0 if is_small else int(((levels > 0) & (levels < 255)).sum())
        reason = "lies between 0 and 255; snapped to the nearer"
        skips.add("mask pixel", reason, self.path, between)
        return np.where(hits, ids[self.name], BACKGROUND).astype(np.uint8)


def mask_size(path: Path) -> tuple[int, int]:
    """The (width, height) of a mask."""
    return image_size(path, f"The mask {path}", MOST_PIXELS)


def _read_values(path: Path, names: ValueNames) -> tuple[Codes, bool, bool]:
    """The values (H, W) of a mask, whether they are colours, and whether it is lossy."""
    mask_size(path)
    try:
        with Image.open(path) as image:
            is_lossy = image.format in LOSSY
            wants_colour = bool(names.colours) and not names.numbers
            if image.mode not in ("1", "L", "P", "I", "I;16") or (
                image.mode in ("L", "P", "1") and wants_colour
            ):
                channels = np.array(image.convert("RGB"), dtype=np.int32)
            else:
                return _levels_of(np.array(image), path), False, is_lossy
    except (OSError, ValueError, SyntaxError) as error:
        raise RecallsegError(f"The mask {path} cannot be read: {error}.") from error
    red, green, blue = np.moveaxis(channels, -1, 0)
    is_grey = np.array_equal(red, green) and np.array_equal(red, blue)
    if is_grey and names.numbers and not names.colours:
        return red, False, is_lossy
    return red << 16 | green << 8 | blue, True, is_lossy


def _levels_of(numbers: npt.NDArray[Any], path: Path) -> Codes:
    if numbers.min(initial=0) < 0 or numbers.max(initial=0) > MOST_LEVEL:
        raise RecallsegError(
            f"The mask {path} holds numbers from {numbers.min()} to {numbers.max()}; class ids are "
            f"0 to {MOST_LEVEL} at most."
        )
    return numbers.astype(np.int32)


def _nearest(codes: Codes, known: Codes, is_colour: bool) -> Codes:
    """For each value the known one that is nearest in its levels."""
    levels = _levels(codes, is_colour)
    distances = [np.square(levels - each).sum(axis=1) for each in _levels(known, is_colour)]
    return np.asarray(known[np.argmin(distances, axis=0)])


def _levels(codes: Codes, is_colour: bool) -> Codes:
    return codes[:, None] >> (16, 8, 0) & 255 if is_colour else codes[:, None]


def _code(colour: Colour) -> int:
    return colour[0] << 16 | colour[1] << 8 | colour[2]


def _shown(code: int, is_colour: bool) -> str:
    return str((code >> 16, code >> 8 & 255, code & 255)) if is_colour else str(code)
