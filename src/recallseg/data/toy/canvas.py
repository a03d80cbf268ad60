"""A canvas that fills polygons in whole numbers only.

Drawing libraries change how they round slanted edges from one version to the next. These pixels
follow from arithmetic on integers, so that a drawing is the same with any version of anything.
"""

from collections.abc import Sequence

import numpy as np
from PIL import Image

Corner = tuple[int, int]


class Canvas:
    """Pixels of four bytes (red, green, blue, opacity); a shape replaces what was there."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._pixels = np.zeros((height, width), dtype="<u4")

    def polygon(self, corners: Sequence[Corner], colour: tuple[int, int, int, int]) -> None:
        """Fill all pixels whose centre is inside, by the even-odd rule."""
        value = int.from_bytes(bytes(colour), "little")
        levels = [y for _, y in corners]
        top, bottom = max(0, min(levels)), min(self.height, max(levels))
        crossings: list[list[int]] = [[] for _ in range(top, bottom)]
        for index, (x0, y0) in enumerate(corners):
            x1, y1 = corners[index - 1]
            if y0 > y1:
                x0, y0, x1, y1 = x1, y1, x0, y0
            first, last = max(y0, top), min(y1, bottom)
            across, twice = x1 - x0, 2 * (y1 - y0)
            part = (2 * (first - y0) + 1) * across + y1 - y0
            for row in crossings[first - top : last - top] if first < last else ():
                row.append(x0 + part // twice)
                part += 2 * across
        for y, row in enumerate(crossings, top):
            row.sort()
            line = self._pixels[y]
            for index in range(0, len(row) - 1, 2):
                line[max(0, row[index]) : max(0, row[index + 1])] = value

    def box(
        self, left: int, top: int, right: int, bottom: int, colour: tuple[int, int, int, int]
    ) -> None:
        """Fill a rectangle, much faster than as a polygon."""
        value = int.from_bytes(bytes(colour), "little")
        self._pixels[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = value

    def image(self) -> Image.Image:
        """What was drawn, in RGBA."""
        return Image.fromarray(self._pixels.view(np.uint8).reshape(self.height, self.width, 4))
