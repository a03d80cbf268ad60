"""The size at which a model looks at photos: their longer side is brought to so many pixels.

A model knows things at the size at which it learned them. Photos from a phone and the same photos
shrunk for a web page look alike once both are brought to one size.
"""

import numpy as np
import numpy.typing as npt
from PIL import Image

Size = tuple[int, int]


def working_size(size: Size, longer_side: int | None) -> Size:
    """`size` with its longer side shrunk or enlarged to `longer_side`; as it is without one."""
    if longer_side is None:
        return size
    longest = max(size)
    first, second = (_rounded(side * longer_side, longest) for side in size)
    return first, second


def _rounded(pixels: int, parts: int) -> int:
    """Halves go up, in whole numbers, so that an exported model rounds alike."""
    return max(1, (2 * pixels + parts) // (2 * parts))


def at_working_size(photo: Image.Image, longer_side: int | None) -> Image.Image:
    """A photo as a model looks at it, resampled with a filter as wide as the pixels it makes."""
    size = working_size(photo.size, longer_side)
    return photo if size == photo.size else photo.resize(size, Image.Resampling.BILINEAR)


def mask_at(mask: npt.NDArray[np.uint8], size: Size) -> npt.NDArray[np.uint8]:
    """A mask brought to (width, height); no label appears that was not there."""
    if (mask.shape[1], mask.shape[0]) == size:
        return mask
    return np.array(Image.fromarray(mask).resize(size, Image.Resampling.NEAREST))
