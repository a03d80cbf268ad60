"""Photos and masks that a program holds, as a folder dataset for as long as they are needed."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.errors import RecallsegError

Picture = Image.Image | Path | str | npt.NDArray[np.uint8]
"""An image, the path of one, or its pixels."""


@contextmanager
def as_folder(
    photos: Sequence[Picture], masks: Sequence[Picture], names: Sequence[str]
) -> Iterator[Path]:
    """A folder with `images/`, `masks/` and `classes.txt`, which is gone afterwards.

    `names` are the classes of the labels 1, 2, … of the masks. Files are copied as they are.
    """
    if len(photos) != len(masks):
        raise RecallsegError(
            f"There are {len(photos)} photos and {len(masks)} masks; give one mask per photo."
        )
    if not names:
        raise RecallsegError("Name the classes of the masks' labels 1, 2, … with names=[…].")
    with tempfile.TemporaryDirectory(prefix="recallseg-") as temporary:
        root = Path(temporary)
        for part, pictures in {"images": photos, "masks": masks}.items():
            (root / part).mkdir()
            for number, picture in enumerate(pictures):
                _write(picture, root / part / f"{number:06}")
        (root / "classes.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
        yield root


def _write(picture: Picture, place: Path) -> None:
    if isinstance(picture, Path | str):
        source = Path(picture)
        if not source.is_file() or source.suffix.lower() not in PHOTO_ENDINGS:
            raise RecallsegError(
                f"{source} is not a file that ends in {', '.join(PHOTO_ENDINGS)}; give the path "
                "of a photo or a mask, an image, or an array."
            )
        shutil.copyfile(source, place.with_suffix(source.suffix))
        return
    image = picture if isinstance(picture, Image.Image) else _from_array(picture)
    image.save(place.with_suffix(".png"))


def _from_array(pixels: npt.NDArray[np.uint8]) -> Image.Image:
    whole = pixels.dtype == np.bool_ or np.issubdtype(pixels.dtype, np.integer)
    if whole and pixels.size and pixels.ndim in (2, 3):
        lowest, highest = int(pixels.min()), int(pixels.max())
        if lowest >= 0 and highest <= 255:
            return Image.fromarray(pixels.astype(np.uint8))
    raise RecallsegError(
        f"This array is {pixels.dtype} of shape {pixels.shape}; a photo is (H, W, 3) or (H, W) "
        "with whole numbers from 0 to 255, and so is a mask (H, W)."
    )
