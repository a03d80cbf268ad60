"""Photos as people hand them over, and the size at which a model looks at them."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from recallseg.data.decoding import decode_photo
from recallseg.data.shrink import resized
from recallseg.data.upright import as_rgb, turned_upright
from recallseg.errors import RecallsegError

Photo = Image.Image | Path | str | npt.NDArray[np.uint8]
"""An image, the path of one, or its pixels: uint8, (H, W) grey or (H, W, 3) RGB."""

MAX_PIXELS = 178_000_000
"""The largest photo that is opened."""


def as_image(photo: Photo) -> Image.Image:
    """A photo in RGB, upright as its EXIF says, read from disk where a path was given."""
    if isinstance(photo, Path | str):
        return decode_photo(Path(photo), f"The photo {photo}", max_pixels=MAX_PIXELS)
    if isinstance(photo, Image.Image):
        photo.load()
        return as_rgb(turned_upright(photo), "This image")
    grey_or_rgb = photo.ndim == 2 or (photo.ndim == 3 and photo.shape[2] == 3)
    if photo.dtype != np.uint8 or not grey_or_rgb or 0 in photo.shape:
        raise RecallsegError(
            f"This array is {photo.dtype} of shape {photo.shape}; a photo is uint8 and (H, W, 3) "
            "in RGB, or (H, W) in grey."
        )
    return Image.fromarray(photo).convert("RGB")


def shrunk(image: Image.Image, longer_side: int | None) -> Image.Image:
    """The photo with its longer side brought down to `longer_side`, if it is larger."""
    size = resized(image.size, longer_side or max(image.size))
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)
