"""Things out of doors that are no class of ours: clutter, and a generator's other classes."""

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.household import GREENS
from recallseg.data.toy.kit import Pen, Thing, shade

CREAM = (248, 242, 228)


def balloon(pen: Pen, dice: Dice) -> None:
    """On a string, with a light in it."""
    skin = dice.pick(pen.paints)
    pen.line([(0.34, 0.62), (0.38, 0.78), (0.31, 0.9), (0.35, 0.99)], 0.022, (90, 84, 90))
    pen.blob([(0.34, 0.0), (0.64, 0.2), (0.56, 0.46), (0.34, 0.6), (0.12, 0.46), (0.04, 0.2)], skin)
    pen.fill([(0.28, 0.66), (0.34, 0.57), (0.4, 0.66)], shade(skin, -0.3))
    pen.oval(0.2, 0.2, 0.06, 0.11, shade(skin, 0.6), turn=0.07)


def barn(pen: Pen, dice: Dice) -> None:
    """A red house with a white cross on its gate."""
    wall = dice.pick(((176, 56, 48), (150, 62, 52), (120, 84, 62)))
    pen.box(0.08, 0.4, 1.02, 0.99, wall)
    pen.fill([(0.0, 0.44), (0.2, 0.16), (0.55, 0.0), (0.9, 0.16), (1.1, 0.44)], (96, 92, 98))
    pen.fill([(0.1, 0.42), (0.24, 0.22), (0.55, 0.07), (0.86, 0.22), (1.0, 0.42)], wall)
    pen.box(0.36, 0.58, 0.74, 0.99, CREAM)
    pen.box(0.4, 0.62, 0.7, 0.97, shade(wall, -0.25))
    pen.line([(0.4, 0.62), (0.7, 0.97)], 0.035, CREAM)
    pen.line([(0.7, 0.62), (0.4, 0.97)], 0.035, CREAM)
    pen.box(0.46, 0.24, 0.64, 0.42, (70, 60, 66))


def goldfish(pen: Pen, dice: Dice) -> None:
    """With a veil for a tail."""
    scales = dice.pick(((246, 140, 40), (236, 96, 50), (250, 186, 70)))
    pen.blob(
        [(0.9, 0.5), (1.3, 0.1), (1.38, 0.4), (1.24, 0.52), (1.38, 0.72), (1.24, 0.96)],
        shade(scales, 0.25),
    )
    pen.blob([(0.4, 0.26), (0.6, 0.02), (0.86, 0.16), (0.9, 0.36)], shade(scales, -0.12))
    pen.blob(
        [(0.04, 0.5), (0.3, 0.24), (0.7, 0.26), (1.02, 0.48), (0.7, 0.76), (0.3, 0.78)], scales
    )
    pen.oval(0.62, 0.66, 0.14, 0.08, shade(scales, 0.3), turn=0.1)
    for index in range(6):
        pen.oval(
            0.5 + 0.12 * (index % 3), 0.42 + 0.13 * (index // 3), 0.05, 0.04, shade(scales, 0.25)
        )
    pen.dot(0.22, 0.44, 0.07, (250, 250, 250))
    pen.dot(0.2, 0.44, 0.04, (30, 26, 34))


def lighthouse(pen: Pen, dice: Dice) -> None:
    """Bands of paint up to the lamp."""
    paint = dice.pick(pen.paints)
    for index in range(5):
        low, high = 0.98 - 0.14 * index, 0.84 - 0.14 * index
        wide, narrow = 0.2 - 0.018 * index, 0.182 - 0.018 * index
        corners = [
            (0.26 - wide, low),
            (0.26 + wide, low),
            (0.26 + narrow, high),
            (0.26 - narrow, high),
        ]
        pen.fill(corners, CREAM if index % 2 else paint)
    pen.box(0.1, 0.25, 0.42, 0.29, (70, 66, 74))
    pen.box(0.16, 0.13, 0.36, 0.25, (255, 230, 130))
    pen.fill([(0.12, 0.14), (0.26, 0.01), (0.4, 0.14)], shade(paint, -0.2))


def monarch(pen: Pen, dice: Dice) -> None:
    """A butterfly with its wings open."""
    wing = dice.pick(((240, 140, 40), (70, 130, 220), (230, 90, 130), (250, 206, 70)))
    for side in (-1, 1):
        half = pen.at(0.6, 0.5, 1, mirror=side < 0)
        half.blob(
            [(0.03, 0.02), (0.3, -0.46), (0.58, -0.42), (0.54, -0.06), (0.2, 0.1)], (46, 38, 44)
        )
        half.blob([(0.08, -0.03), (0.3, -0.38), (0.5, -0.36), (0.46, -0.1), (0.2, 0.04)], wing)
        half.blob([(0.03, 0.04), (0.4, 0.06), (0.44, 0.36), (0.22, 0.48)], (46, 38, 44))
        half.blob([(0.09, 0.08), (0.35, 0.1), (0.37, 0.32), (0.22, 0.4)], shade(wing, 0.2))
        half.line([(0.02, -0.28), (0.14, -0.46)], 0.02, (46, 38, 44))
    pen.oval(0.6, 0.52, 0.045, 0.32, (46, 38, 44))


def mushroom(pen: Pen, dice: Dice) -> None:
    """A cap with dots."""
    cap = dice.pick(((206, 48, 44), (176, 116, 70), (226, 150, 60)))
    pen.blob([(0.38, 0.4), (0.62, 0.4), (0.68, 0.9), (0.5, 1.0), (0.32, 0.9)], CREAM)
    pen.fill([(0.3, 0.56), (0.7, 0.56), (0.6, 0.64), (0.4, 0.64)], shade(CREAM, -0.15))
    pen.blob([(0.0, 0.5), (0.14, 0.16), (0.5, 0.0), (0.86, 0.16), (1.0, 0.5), (0.5, 0.58)], cap)
    for x, y, radius in (
        (0.28, 0.22, 0.07),
        (0.6, 0.14, 0.06),
        (0.5, 0.38, 0.08),
        (0.8, 0.36, 0.06),
    ):
        pen.oval(x, y, radius, 0.8 * radius, CREAM)


def oak(pen: Pen, dice: Dice) -> None:
    """A trunk under a crown of leaves."""
    green = dice.pick(GREENS)
    pen.fill([(0.34, 1.0), (0.4, 0.5), (0.52, 0.5), (0.58, 1.0)], (108, 76, 52))
    for x, y, radius, tone in (
        (0.2, 0.44, 0.19, -0.18),
        (0.72, 0.44, 0.19, -0.22),
        (0.46, 0.48, 0.2, -0.12),
        (0.3, 0.24, 0.2, 0.0),
        (0.62, 0.26, 0.2, -0.06),
        (0.46, 0.16, 0.16, 0.14),
    ):
        pen.dot(x + dice.between(-0.03, 0.03), y, radius, shade(green, tone))


def tent(pen: Pen, dice: Dice) -> None:
    """Open at the front."""
    cloth = dice.pick(pen.paints)
    pen.fill([(0.5, 0.1), (1.2, 0.2), (1.5, 0.98), (1.0, 0.98)], shade(cloth, -0.25))
    pen.fill([(0.5, 0.1), (1.02, 0.98), (0.0, 0.98)], cloth)
    pen.fill([(0.5, 0.28), (0.7, 0.98), (0.3, 0.98)], (60, 50, 52))
    pen.fill([(0.5, 0.28), (0.36, 0.98), (0.24, 0.98)], shade(cloth, 0.3))
    pen.line([(0.5, 0.12), (0.5, 0.0)], 0.03, (100, 84, 70))


def traffic_light(pen: Pen, dice: Dice) -> None:
    """One of its three lights is on."""
    lit = dice.below(3)
    pen.line([(0.2, 0.6), (0.2, 0.99)], 0.07, (84, 88, 94))
    pen.soft_box(0.04, 0.0, 0.36, 0.66, (48, 52, 58), 0.06)
    lamps = ((226, 54, 48), (250, 196, 60), (70, 200, 100))
    for index, lamp in enumerate(lamps):
        pen.dot(0.2, 0.12 + 0.21 * index, 0.085, lamp if index == lit else shade(lamp, -0.65))


def umbrella(pen: Pen, dice: Dice) -> None:
    """Open, in two colours."""
    one, other = dice.pick(pen.paints), CREAM
    pen.line([(0.6, 0.05), (0.6, 0.9), (0.5, 0.97), (0.42, 0.9)], 0.035, (96, 70, 52))
    for index in range(4):
        left, right = 0.3 * index, 0.3 * index + 0.3
        middle = (left + right) / 2
        lift = (0.14, 0.05, 0.05, 0.14)[index]
        pen.blob(
            [
                (0.6, 0.04),
                (left, 0.3 + lift),
                (left, 0.46),
                (middle, 0.42),
                (right, 0.46),
                (right, 0.3 + lift),
            ],
            other if index % 2 else one,
        )
    pen.line([(0.6, 0.08), (0.6, 0.01)], 0.03, (96, 70, 52))


OUTDOORS = (
    Thing("balloon", 0.68, balloon, grain=1),
    Thing("barn", 1.1, barn, grain=8),
    Thing("goldfish", 1.42, goldfish, grain=6),
    Thing("lighthouse", 0.52, lighthouse),
    Thing("monarch", 1.2, monarch, grain=6),
    Thing("mushroom", 1.0, mushroom),
    Thing("oak", 0.92, oak, grain=12),
    Thing("tent", 1.5, tent, grain=6),
    Thing("traffic light", 0.4, traffic_light, grain=2),
    Thing("umbrella", 1.2, umbrella),
)
