"""The outlines of what a model sees, as annotation tools want them.

Coordinates are those of COCO: (0, 0) is the corner of the first pixel. Unsimplified outlines run
halfway between the middles of pixels, so filling them gives the mask back exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from contourpy import FillType, contour_generator

from recallseg.data.rle import Hits

Points = npt.NDArray[np.float64]
"""The corners of an outline, (N, 2): x to the right, y down; the last is not the first again."""
TOLERANCE = 0.4
"""Outlines are simplified by at most that many pixels; under half of one, no straight edge loses
a row of them."""


@dataclass(frozen=True)
class Part:
    """A connected part of a mask: the outline around it, and those of its holes."""

    around: Points
    holes: tuple[Points, ...]

    def joined(self) -> Points:
        """One outline with the holes cut out, for formats that know none.

        A hole is reached by a line of no width, there and back, from its nearest corner; filled by
        the even-odd or by the winding rule, it stays empty.
        """
        points = self.around
        for hole in self.holes:
            distances = np.square(points[:, None] - hole[None]).sum(axis=-1)
            here, there = np.unravel_index(int(distances.argmin()), distances.shape)
            loop = np.roll(hole, -int(there), axis=0)
            points = np.concatenate([points[: here + 1], loop, loop[:1], points[here:]])
        return points


def parts_of(hits: Hits, tolerance: float = TOLERANCE) -> Iterator[Part]:
    """The connected parts of a mask (H, W), with outlines simplified by at most `tolerance` px."""
    padded = np.pad(hits, 1).astype(np.float64)
    generator = contour_generator(z=padded, fill_type=FillType.OuterOffset)
    for corners, offsets in zip(*generator.filled(0.5, 2), strict=True):
        assert corners is not None
        assert offsets is not None
        rings = [
            simplified(corners[start : end - 1] - 0.5, tolerance)
            for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        ]
        yield Part(rings[0], tuple(rings[1:]))


def simplified(ring: Points, tolerance: float) -> Points:
    """A closed outline with fewer corners, by Douglas and Peucker's rule.

    No corner that is left out lies farther than `tolerance` from the new outline; one that would
    shrink to a line stays as it is.
    """
    if len(ring) < 4:
        return ring
    farthest = int(np.square(ring - ring[0]).sum(axis=1).argmax())
    kept = np.zeros(len(ring) + 1, dtype=bool)
    kept[[0, farthest, len(ring)]] = True
    closed = np.concatenate([ring, ring[:1]])
    waiting = [(0, farthest), (farthest, len(ring))]
    while waiting:
        first, last = waiting.pop()
        if last - first > 1:
            distances = _distances(closed[first + 1 : last], closed[first], closed[last])
            if distances.max() > tolerance:
                middle = first + 1 + int(distances.argmax())
                kept[middle] = True
                waiting += [(first, middle), (middle, last)]
    short = closed[:-1][kept[:-1]]
    return short if len(short) >= 3 else ring


def _distances(points: Points, start: Points, end: Points) -> npt.NDArray[np.float64]:
    """How far points lie from the line between two others."""
    line = end - start
    length = float(line @ line)
    along = ((points - start) @ line / length).clip(0, 1) if length else np.zeros(len(points))
    away = points - start - along[:, None] * line
    return np.asarray(np.hypot(away[:, 0], away[:, 1]))


def flat(points: Points, digits: int = 2) -> list[float]:
    """Corners as a list x, y, x, y … of rounded numbers."""
    numbers: Sequence[float] = points.ravel().tolist()
    return [round(number, digits) for number in numbers]
