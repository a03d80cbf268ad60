"""Photos of an imported dataset: their sizes, and copies of them or links to them."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from recallseg.data.dataset import Mask
from recallseg.data.decoding import photo_header
from recallseg.data.upright import unturned

MOST_PIXELS = 178_000_000
"""The largest photo that is taken."""
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What turns an image upright, by its EXIF orientation."""


@dataclass(frozen=True)
class PhotoSize:
    """The (width, height) of a photo in its file, and how EXIF says it is to be turned."""

    stored: tuple[int, int]
    orientation: int

    @classmethod
    def of(cls, path: Path) -> "PhotoSize":
        """Read the header of a photo."""
        return cls(*photo_header(path, MOST_PIXELS))

    @property
    def upright(self) -> tuple[int, int]:
        """The size as people see the photo."""
        return unturned(self.stored, self.orientation)

    def turned(self, mask: Mask) -> Mask:
        """A mask that lies as the photo in its file, turned as people see it."""
        turn = TURNS.get(self.orientation)
        return mask if turn is None else np.asarray(Image.fromarray(mask).transpose(turn))


def place_photo(photo: Path, target: Path, *, link: bool) -> None:
    """Put a photo at a new path: a symbolic link to it, or a copy."""
    if link:
        target.symlink_to(photo.resolve())
    else:
        shutil.copyfile(photo, target)
