"""From an image as Pillow decodes it to an upright photo in RGB with 8 bits per channel."""

from pathlib import Path

import numpy as np
from PIL import ExifTags, Image, ImageOps

from recallseg.errors import RecallsegError

SIXTEEN_BITS = ("I;16", "I;16L", "I;16B", "I;16N")
SIXTEEN_BIT_FORMATS = ("PNG", "PPM")
"""Formats whose integers have 16 bits, also where Pillow gives them 32."""
PER_LEVEL = 257
"""Levels of 16 bits for each of 8 bits: 65535 = 255 · 257."""
UPRIGHT = 1


def as_rgb(image: Image.Image, called: str) -> Image.Image:
    """An image in RGB; errors name it as it is `called`.

    Grey of 16 bits is scaled, where Pillow would make everything above 255 white. Floating-point
    numbers and integers of 32 bits are refused: nothing says which of them is white.
    """
    if image.mode == "RGB":
        return image
    if image.mode in SIXTEEN_BITS or (image.mode == "I" and image.format in SIXTEEN_BIT_FORMATS):
        levels = np.asarray(image).astype(np.uint32)
        grey = (levels + PER_LEVEL // 2) // PER_LEVEL
        return Image.fromarray(grey.astype(np.uint8)).convert("RGB")
    if image.mode in ("I", "F"):
        kind = "floating-point numbers" if image.mode == "F" else "integers of 32 bits"
        raise RecallsegError(
            f"{called} holds {kind} (mode {image.mode}), which do not say what is black and what "
            "is white; scale them to 0–255 and save them with 8 bits, or to 0–65535 with 16."
        )
    return image.convert("RGB")


def orientation(image: Image.Image) -> int:
    """How a camera was held, by EXIF: 1 is upright, and 5 to 8 swap width and height."""
    value = image.getexif().get(ExifTags.Base.Orientation, UPRIGHT)
    return int(value) if value in range(1, 9) else UPRIGHT


def turned_upright(image: Image.Image) -> Image.Image:
    """An image as its EXIF orientation says; the same one where there is nothing to turn."""
    return image if orientation(image) == UPRIGHT else ImageOps.exif_transpose(image)


def read_orientation(path: Path) -> int:
    """The EXIF orientation of a photo that can be read."""
    with Image.open(path) as image:
        return orientation(image)


def unturned(size: tuple[int, int], held: int) -> tuple[int, int]:
    """The size that an upright photo has in its file, by its orientation."""
    return (size[1], size[0]) if held >= 5 else size
