"""What everything is drawn with: colours, and a pen that fills polygons.

All of it is the same on every machine: directions come from a table, and every shape, also a
circle or a line, is a polygon with its corners on whole pixels.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from recallseg.data.toy.canvas import Canvas
from recallseg.data.toy.dice import Dice

Colour = tuple[int, int, int]

EYE: Colour = (28, 24, 30)
"""The colour of all eyes."""
Point = tuple[float, float]

_STEPS = 128
_COS, _SIN = 0.9987954562051724, 0.049067674327418015


def _directions() -> tuple[Point, ...]:
    """The unit circle in equal steps, by products and sums, which round alike everywhere."""
    points, x, y = [], 1.0, 0.0
    for _ in range(_STEPS):
        points.append((x, y))
        x, y = x * _COS - y * _SIN, x * _SIN + y * _COS
    return tuple(points)


DIRECTIONS = _directions()
_FULL = 255


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """The colour on the way from one to the other."""
    red, green, blue = (int(a + (b - a) * share + 0.5) for a, b in zip(one, other, strict=True))
    return red, green, blue


def shade(colour: Colour, amount: float) -> Colour:
    """Lighter (towards white) for a positive amount, darker for a negative one."""
    return mix(colour, (255, 255, 255) if amount > 0 else (0, 0, 0), abs(amount))


@dataclass(frozen=True)
class Pen:
    """Fills shapes on a layer, given in an object's own coordinates: y down, 1 is the ground.

    `paints` are the colours that painted things are picked from; they belong to a style.
    """

    canvas: Canvas
    matrix: tuple[float, float, float, float, float, float]
    paints: tuple[Colour, ...] = ((200, 60, 50),)

    def at(
        self, x: float, y: float, scale: float = 1, *, turn: float = 0, mirror: bool = False
    ) -> "Pen":
        """A pen for a part that has its own coordinates, with its origin at (x, y)."""
        cos, sin = direction(turn)
        a, b, c, d, e, f = self.matrix
        side = -scale if mirror else scale
        inner = (cos * side, -sin * scale, sin * side, cos * scale)
        moved = (
            *(a * inner[0] + b * inner[2], a * inner[1] + b * inner[3], a * x + b * y + c),
            *(d * inner[0] + e * inner[2], d * inner[1] + e * inner[3], d * x + e * y + f),
        )
        return replace(self, matrix=moved)

    def fill(self, points: Sequence[Point], colour: Colour) -> None:
        """A polygon."""
        a, b, c, d, e, f = self.matrix
        placed = [
            (math.floor(a * x + b * y + c + 0.5), math.floor(d * x + e * y + f + 0.5))
            for x, y in points
        ]
        self.canvas.polygon(placed, (*colour, _FULL))

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        """A rectangle."""
        a, b, c, d, e, f = self.matrix
        if b == d == 0:
            xs = sorted(math.floor(a * x + c + 0.5) for x in (left, right))
            ys = sorted(math.floor(e * y + f + 0.5) for y in (top, bottom))
            self.canvas.box(xs[0], ys[0], xs[1], ys[1], (*colour, _FULL))
            return
        self.fill([(left, top), (right, top), (right, bottom), (left, bottom)], colour)

    def soft_box(
        self, left: float, top: float, right: float, bottom: float, colour: Colour, radius: float
    ) -> None:
        """A rectangle with round corners."""
        centres = (
            (right - radius, bottom - radius),
            (left + radius, bottom - radius),
            (left + radius, top + radius),
            (right - radius, top + radius),
        )
        quarter = _STEPS // 4
        points = [
            (x + radius * cos, y + radius * sin)
            for corner, (x, y) in enumerate(centres)
            for cos, sin in DIRECTIONS[corner * quarter : (corner + 1) * quarter + 1 : 4]
        ]
        self.fill(points, colour)

    def oval(
        self,
        x: float,
        y: float,
        across: float,
        down: float,
        colour: Colour,
        *,
        turn: float = 0,
    ) -> None:
        """An ellipse by its centre and two radii, turned by a share of a full turn."""
        cos, sin = direction(turn)
        points = [
            (x + across * u * cos - down * v * sin, y + across * u * sin + down * v * cos)
            for u, v in DIRECTIONS[::4]
        ]
        self.fill(points, colour)

    def dot(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """A disc."""
        self.oval(x, y, radius, radius, colour)

    def blob(self, points: Sequence[Point], colour: Colour) -> None:
        """A smooth closed shape through the points."""
        self.fill(smooth(points), colour)

    def line(
        self, points: Sequence[Point], widths: float | Sequence[float], colour: Colour
    ) -> None:
        """A line with round ends through the points; widths may differ from point to point."""
        all_widths = [widths] * len(points) if isinstance(widths, float | int) else widths
        for (one, other), (thick, thin) in zip(pairwise(points), pairwise(all_widths), strict=True):
            self.fill(_segment(one, other, thick / 2, thin / 2), colour)


def _segment(one: Point, other: Point, thick: float, thin: float) -> list[Point]:
    """The outline of a line from one point to the other with half discs at its ends."""
    across, down = other[0] - one[0], other[1] - one[1]
    length = math.sqrt(across * across + down * down) or 1.0
    u, v = across / length, down / length
    caps = []
    for (x, y), radius, side in ((other, thin, 1), (one, thick, -1)):
        for cos, sin in DIRECTIONS[: _STEPS // 2 + 1 : 8]:
            along, aside = side * sin * radius, side * cos * radius
            caps.append((x + u * along - v * aside, y + v * along + u * aside))
    return caps


_WEIGHTS = tuple(
    (
        -0.5 * t + t * t - 0.5 * t * t * t,
        1 - 2.5 * t * t + 1.5 * t * t * t,
        0.5 * t + 2 * t * t - 1.5 * t * t * t,
        -0.5 * t * t + 0.5 * t * t * t,
    )
    for t in (step / 6 for step in range(6))
)


def smooth(points: Sequence[Point]) -> list[Point]:
    """Catmull and Rom's closed curve through the points."""
    count, curve = len(points), []
    for index in range(count):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = (
            points[(index + shift) % count] for shift in (-1, 0, 1, 2)
        )
        curve += [
            (a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3)
            for a, b, c, d in _WEIGHTS
        ]
    return curve


def direction(turn: float) -> Point:
    """Cosine and sine of a share of a full turn, from the table, with lines between its points."""
    position = (turn - math.floor(turn)) * _STEPS
    low = int(position)
    share = position - low
    (a, b), (c, d) = DIRECTIONS[low % _STEPS], DIRECTIONS[(low + 1) % _STEPS]
    return a + (c - a) * share, b + (d - b) * share


def ring(count: int) -> list[Point]:
    """`count` directions at equal distances."""
    return [direction(index / count) for index in range(count)]


@dataclass(frozen=True)
class Thing:
    """Something that can be drawn: facing left, from y = 0 to the ground at y = 1."""

    name: str
    aspect: float
    """Its width; its height is 1."""
    draw: Callable[[Pen, Dice], None]
    grain: int = 5
    """How rough its surface is: 0 is glass, 20 is wool."""
    below: float = 0.0
    """How far it hangs under its ground."""
    seat: Point | None = None
    """Where something or someone on it stands or sits."""
