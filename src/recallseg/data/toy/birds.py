"""Birds, on their feet and in the air."""

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import EYE, Colour, Pen, Thing, mix, shade


def _bird_body(pen: Pen, coat: Colour, breast: Colour) -> None:
    """Tail, trunk and head."""
    trunk = [(0.24, 0.38), (0.46, 0.34), (0.9, 0.48), (1.0, 0.64), (0.66, 0.86), (0.36, 0.76)]
    pen.fill([(0.9, 0.54), (1.36, 0.6), (1.34, 0.7), (0.86, 0.72)], shade(coat, -0.35))
    pen.blob(trunk, coat)
    pen.blob([(0.26, 0.5), (0.4, 0.56), (0.72, 0.82), (0.5, 0.85), (0.3, 0.72)], breast)
    pen.dot(0.34, 0.34, 0.18, coat)
    pen.fill([(0.0, 0.4), (0.2, 0.29), (0.19, 0.41)], (240, 164, 52))
    pen.dot(0.28, 0.31, 0.042, (250, 248, 240))
    pen.dot(0.275, 0.31, 0.027, EYE)


def _plumage(dice: Dice) -> tuple[Colour, Colour]:
    coat = dice.pick(((70, 120, 190), (206, 76, 60), (232, 188, 60), (96, 92, 96), (92, 150, 96)))
    return coat, mix(coat, dice.pick(((255, 250, 240), (244, 160, 90))), 0.75)


def bird(pen: Pen, dice: Dice) -> None:
    """A songbird on its feet."""
    coat, breast = _plumage(dice)
    for x in (0.58, 0.7):
        pen.line([(x, 0.8), (x - 0.01, 0.97)], 0.03, (150, 100, 60))
        pen.line([(x - 0.08, 0.98), (x + 0.04, 0.98)], 0.028, (150, 100, 60))
    _bird_body(pen, coat, breast)
    wing = [(0.5, 0.5), (0.74, 0.48), (1.12, 0.66), (0.8, 0.74), (0.56, 0.68)]
    pen.blob(wing, shade(coat, -0.25))
    pen.line([(0.66, 0.58), (0.98, 0.65)], 0.02, shade(coat, -0.5))


def flying_bird(pen: Pen, dice: Dice) -> None:
    """The same bird with its wings up."""
    coat, breast = _plumage(dice)
    far = [(0.62, 0.5), (0.72, 0.1), (0.98, 0.0), (0.96, 0.3), (0.86, 0.54)]
    near = [(0.46, 0.56), (0.56, 0.2), (0.84, -0.02), (0.98, 0.02), (0.92, 0.4), (0.82, 0.62)]
    pen.blob([(x + 0.14, y) for x, y in far], shade(coat, -0.4))
    _bird_body(pen, coat, breast)
    pen.blob(near, shade(coat, -0.2))
    pen.line([(0.6, 0.5), (0.86, 0.08)], 0.024, shade(coat, -0.45))
    pen.line([(0.7, 0.54), (0.92, 0.2)], 0.024, shade(coat, -0.45))


BIRD = Thing("bird", 1.36, bird, grain=7)
FLYING_BIRD = Thing("bird", 1.36, flying_bird, grain=7)
