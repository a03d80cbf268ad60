"""How large the photos of a dataset are, and at which size a model shall learn from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from PIL import Image

from recallseg.errors import RecallsegError
from recallseg.files import check_regular
from recallseg.progress import map_files

MADE_FOR = 12 / 7
"""The longer side of photos that a recipe is made for, at most, as a multiple of its window: 384 px
for windows of 224, which then show what is in a photo and not a shred of it; 550 for the paper's
321, which sees photos of 500."""


@dataclass(frozen=True)
class PhotoSizes:
    """The longer sides of some photos, in pixels."""

    sides: tuple[int, ...]

    @classmethod
    def of(cls, photos: Sequence[Path]) -> "PhotoSizes":
        """Those of files, of which no more than the header is read; broken ones are left out."""
        sides = map_files(_longer_side, list(photos), "Measuring photos")
        return cls(tuple(side for side in sides if side is not None))

    @property
    def median(self) -> int:
        """The longer side of the photo in the middle."""
        return round(median(self.sides))

    def working_side(self, crop: int) -> int:
        """The size to learn at: the usual one of the photos, or what windows of `crop` allow."""
        return min(self.median, round(crop * MADE_FOR))

    def sentence(self, crop: int) -> str:
        """What was found, and what `recallseg learn` will do with it."""
        lowest, highest = min(self.sides), max(self.sides)
        found = f"{lowest} px" if lowest == highest else f"{lowest}–{highest} px"
        middle = "" if lowest == highest else f", the median {self.median}"
        side = self.working_side(crop)
        why = "" if side == self.median else f", the most for windows of {crop} px (views.crop)"
        return (
            f"The longer side of the photos is {found}{middle}; a model begun with them looks at "
            f"all photos at {side} px{why}. views.longer_side=N sets another size, =null none."
        )


def _longer_side(path: Path) -> int | None:
    try:
        check_regular(path)
        with Image.open(path) as image:
            return max(image.size)
    except (RecallsegError, OSError, ValueError, Image.DecompressionBombError):
        return None
