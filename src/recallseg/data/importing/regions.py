"""Parts of a photo as annotation tools describe them: outlines, run lengths and small masks.

Coordinates are those of COCO: (0, 0) is the corner of the first pixel and (0.5, 0.5) its middle. A
pixel belongs to an outline if its middle lies inside of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recallseg.data.rle import Hits, hits_of
from recallseg.errors import RecallsegError

Points = npt.NDArray[np.float64]
"""The corners of an outline, (N, 2): x to the right, y down."""
FARTHEST = 1e7
"""Coordinates are cut to this, so that no sum of them overflows."""


class Region(Protocol):
    """A part of a photo."""

    @property
    def area(self) -> float:
        """Its size in pixels, by which overlapping objects are ordered."""

    def pixels(self, height: int, width: int) -> Hits:
        """The (H, W) pixels of the photo that belong to it."""


@dataclass(frozen=True)
class Outlines:
    """Everything inside of at least one of some closed outlines."""

    parts: tuple[Points, ...]

    @property
    def area(self) -> float:
        """The sum over the parts."""
        return float(sum(_area(part) for part in self.parts))

    def pixels(self, height: int, width: int) -> Hits:
        """The pixels whose middle lies inside of a part."""
        hits = np.zeros((height, width), dtype=bool)
        for part in self.parts:
            _add_inside(part, hits)
        return hits


@dataclass(frozen=True)
class RunLengths:
    """COCO's run lengths of a whole photo of (height, width)."""

    counts: tuple[int, ...]
    size: tuple[int, int]

    def __post_init__(self) -> None:
        height, width = self.size
        if min(self.counts, default=0) < 0 or sum(self.counts) != height * width:
            raise RecallsegError(
                f"Run lengths of {sum(self.counts)} pixels stand for a mask of {width}×{height} "
                "px; they must add up to its size."
            )

    @property
    def area(self) -> float:
        """The pixels that are hit."""
        return float(sum(self.counts[1::2]))

    def pixels(self, height: int, width: int) -> Hits:
        """The mask; a photo of another size is an error."""
        if (height, width) != self.size:
            raise RecallsegError(
                f"Run lengths for {self.size[1]}×{self.size[0]} px belong to a photo of "
                f"{width}×{height} px; they must have the same size."
            )
        return hits_of(self.counts, height, width)


@dataclass(frozen=True)
class Patch:
    """A small mask whose first pixel lies at (left, top) of the photo."""

    hits: Hits
    left: int
    top: int

    @property
    def area(self) -> float:
        """The pixels that are hit."""
        return float(self.hits.sum())

    def pixels(self, height: int, width: int) -> Hits:
        """The mask in its place; what lies beyond the photo's edges is cut off."""
        hits = np.zeros((height, width), dtype=bool)
        rows, columns = self.hits.shape
        top, left = max(0, self.top), max(0, self.left)
        bottom, right = min(height, self.top + rows), min(width, self.left + columns)
        if top < bottom and left < right:
            hits[top:bottom, left:right] = self.hits[
                top - self.top : bottom - self.top, left - self.left : right - self.left
            ]
        return hits


def box(
    left: float,
    top: float,
    right: float,
    bottom: float,
    turned: float = 0,
    *,
    about_corner: bool = False,
) -> Outlines:
    """A rectangle, turned clockwise by degrees around its middle or its first corner."""
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    return Outlines((_turned(corners, turned, corners[0] if about_corner else None),))


def ellipse(middle: tuple[float, float], radii: tuple[float, float], turned: float = 0) -> Outlines:
    """An ellipse as a polygon whose corners are at most about a pixel apart."""
    steps = int(min(2000, max(16, 7 * max(radii))))
    angles = np.arange(steps) * (2 * math.pi / steps)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.array(radii)
    return Outlines((_turned(around + np.array(middle), turned, np.array(middle)),))


def outline(numbers: Sequence[float]) -> Points:
    """The corners in a flat list x, y, x, y … as tools write them."""
    return np.array(numbers, dtype=np.float64).reshape(-1, 2).clip(-FARTHEST, FARTHEST)


def _turned(points: Points, degrees: float, middle: Points | None = None) -> Points:
    if not degrees:
        return points
    middle = points.mean(axis=0) if middle is None else middle
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turn = np.array([[cos, sin], [-sin, cos]])
    return np.asarray((points - middle) @ turn + middle)


def _area(points: Points) -> float:
    x, y = points.T
    return abs(float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))) / 2


def _add_inside(points: Points, hits: Hits) -> None:
    """Add the pixels inside of an outline to a mask (H, W), by the even-odd rule.

    In each row, a pixel is inside if an odd number of edges cross the row before its middle.
    """
    height, width = hits.shape
    x, y = (points - 0.5).T  # the middles of pixels are whole numbers now
    next_x, next_y = np.roll(x, -1), np.roll(y, -1)
    first = np.ceil(np.minimum(y, next_y)).clip(0, height).astype(np.int64)
    last = np.ceil(np.maximum(y, next_y)).clip(0, height).astype(np.int64)
    crossed = last - first
    if not crossed.any():
        return
    edges = np.repeat(np.arange(len(x)), crossed)
    rows = np.arange(len(edges)) - np.repeat(crossed.cumsum() - crossed, crossed) + first[edges]
    along = (rows - y[edges]) / (next_y - y)[edges]
    crossings = x[edges] + along * (next_x - x)[edges]
    columns = np.ceil(crossings).clip(0, width).astype(np.int64)
    top, bottom = int(first[crossed > 0].min()), int(last.max())
    flat = np.bincount((rows - top) * (width + 1) + columns, minlength=(bottom - top) * (width + 1))
    parity = (flat.reshape(bottom - top, width + 1).cumsum(axis=1)[:, :width] % 2).astype(bool)
    hits[top:bottom] |= parity
