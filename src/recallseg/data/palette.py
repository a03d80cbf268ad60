"""VOC's colours for class ids."""

from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image


@cache
def voc_palette() -> npt.NDArray[np.uint8]:
    """VOC's (256, 3) RGB table: the bits of an id go to red, green and blue in turn."""
    ids = np.arange(256)
    palette = np.zeros((256, 3), dtype=np.uint8)
    for level in range(8):
        for channel in range(3):
            bit = (ids >> (3 * level + channel)) & 1
            palette[:, channel] |= (bit << (7 - level)).astype(np.uint8)
    return palette


def palette_image(mask: npt.NDArray[np.uint8]) -> Image.Image:
    """A mask (H, W) as an image whose pixels are class ids, shown in VOC's colours."""
    image = Image.fromarray(mask)
    image.putpalette(voc_palette().tobytes())
    return image


OVERLAY_COLOURS = (
    *((0, 114, 178), (230, 159, 0), (204, 121, 167), (86, 180, 233)),
    *((240, 228, 66), (213, 94, 0), (0, 158, 115), (136, 34, 85)),
)
"""What classes look like on a photo: seven colours of Okabe and Ito and a dark red, which people
who do not tell red from green tell apart. The ninth class has the first one again, in stripes."""
