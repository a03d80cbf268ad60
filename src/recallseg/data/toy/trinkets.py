"""Small things that are no class of ours: clutter, and a generator's other classes."""

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.household import WOODS
from recallseg.data.toy.kit import Pen, Thing, mix, ring, shade
from recallseg.data.toy.outdoors import CREAM


def backpack(pen: Pen, dice: Dice) -> None:
    """With a pocket and two straps."""
    cloth = dice.pick(pen.paints)
    pen.line([(0.28, 0.12), (0.36, 0.02), (0.46, 0.02), (0.54, 0.12)], 0.05, shade(cloth, -0.4))
    pen.soft_box(0.08, 0.1, 0.74, 0.98, cloth, 0.2)
    pen.soft_box(0.17, 0.52, 0.65, 0.92, shade(cloth, 0.18), 0.08)
    pen.line([(0.2, 0.6), (0.62, 0.6)], 0.03, shade(cloth, -0.45))
    pen.line([(0.16, 0.34), (0.66, 0.34)], 0.03, shade(cloth, -0.45))
    pen.box(0.37, 0.56, 0.45, 0.7, (230, 200, 110))


def banana(pen: Pen, dice: Dice) -> None:
    """Two of a bunch."""
    skin = dice.pick(((250, 214, 70), (244, 196, 60), (214, 210, 90)))
    for lower, tone in ((0.16, -0.12), (0.0, 0.0)):
        curve = [(0.1, 0.2), (0.3, 0.56 + lower), (0.7, 0.66 + lower), (1.12, 0.44)]
        back = [(1.2, 0.56), (0.8, 0.92 + 0.4 * lower), (0.34, 0.86 + 0.6 * lower), (0.04, 0.36)]
        pen.blob([*curve, *back], shade(skin, tone) if tone else skin)
    pen.line([(0.08, 0.28), (0.06, 0.06)], [0.1, 0.07], (120, 96, 50))
    pen.dot(1.18, 0.5, 0.05, (84, 66, 44))


def mug(pen: Pen, dice: Dice) -> None:
    """Coffee, still hot."""
    glaze = dice.pick(pen.paints)
    pen.oval(0.86, 0.62, 0.2, 0.2, shade(glaze, -0.2))
    pen.oval(0.86, 0.62, 0.11, 0.11, CREAM)
    pen.soft_box(0.06, 0.3, 0.84, 0.98, glaze, 0.1)
    pen.oval(0.45, 0.31, 0.39, 0.1, shade(glaze, 0.35))
    pen.oval(0.45, 0.32, 0.32, 0.07, (86, 54, 38))
    pen.box(0.06, 0.58, 0.84, 0.7, mix(glaze, CREAM, 0.8))
    for x in (0.32, 0.56):
        pen.line([(x, 0.22), (x + 0.05, 0.12), (x, 0.02)], 0.03, (236, 236, 240))


def cowboy_hat(pen: Pen, dice: Dice) -> None:
    """A wide brim and a band."""
    felt = dice.pick(((150, 100, 60), (96, 70, 54), (210, 180, 130), (60, 56, 60)))
    pen.blob(
        [(0.0, 0.56), (0.3, 0.72), (1.1, 0.72), (1.4, 0.56), (1.24, 0.9), (0.7, 0.98), (0.16, 0.9)],
        shade(felt, -0.15),
    )
    pen.blob(
        [
            (0.34, 0.78),
            (0.36, 0.2),
            (0.54, 0.06),
            (0.7, 0.16),
            (0.88, 0.06),
            (1.04, 0.2),
            (1.06, 0.78),
        ],
        felt,
    )
    pen.fill([(0.34, 0.62), (1.06, 0.62), (1.07, 0.76), (0.33, 0.76)], dice.pick(pen.paints))


def ice_cream(pen: Pen, dice: Dice) -> None:
    """Scoops on a cone."""
    pen.fill([(0.1, 0.44), (0.54, 0.44), (0.32, 1.0)], (222, 166, 96))
    for index in range(3):
        pen.line([(0.14 + 0.12 * index, 0.46), (0.26 + 0.08 * index, 0.8)], 0.014, (180, 120, 60))
    flavours = dice.shuffled(((250, 220, 180), (240, 150, 170), (120, 78, 56), (160, 214, 170)))
    for (x, y), flavour in zip(((0.2, 0.34), (0.44, 0.34), (0.32, 0.18)), flavours, strict=False):
        pen.dot(x, y, 0.17, flavour)
        pen.dot(x - 0.05, y - 0.06, 0.04, shade(flavour, 0.5))
    pen.dot(0.33, 0.03, 0.05, (214, 40, 54))


def strawberry(pen: Pen, dice: Dice) -> None:
    """Seeds and a green star."""
    red = dice.pick(((216, 40, 52), (232, 66, 60), (190, 30, 50)))
    pen.blob(
        [
            (0.06, 0.32),
            (0.3, 0.16),
            (0.6, 0.16),
            (0.84, 0.32),
            (0.72, 0.7),
            (0.45, 0.98),
            (0.18, 0.7),
        ],
        red,
    )
    for x, y in ((0.25, 0.4), (0.45, 0.36), (0.65, 0.4), (0.33, 0.56), (0.57, 0.56), (0.45, 0.74)):
        pen.oval(x, y, 0.022, 0.035, (250, 214, 110))
    for turn in (-0.26, -0.13, 0.0, 0.13, 0.26):
        pen.at(0.45, 0.2, turn=turn).fill([(-0.07, 0), (0.0, -0.2), (0.07, 0)], (72, 140, 66))


def table_lamp(pen: Pen, dice: Dice) -> None:
    """A shade on a foot, lit."""
    cloth = dice.pick(((250, 226, 160), (240, 190, 120), (236, 236, 224), (220, 120, 100)))
    pen.line([(0.32, 0.44), (0.32, 0.92)], [0.06, 0.1], dice.pick(WOODS))
    pen.oval(0.32, 0.95, 0.2, 0.045, (96, 80, 70))
    pen.fill([(0.18, 0.02), (0.46, 0.02), (0.64, 0.46), (0.0, 0.46)], cloth)
    pen.fill([(0.2, 0.02), (0.3, 0.02), (0.26, 0.46), (0.06, 0.46)], shade(cloth, 0.4))


def teapot(pen: Pen, dice: Dice) -> None:
    """With spout, handle and lid."""
    glaze = dice.pick(pen.paints)
    pen.oval(1.12, 0.56, 0.2, 0.22, shade(glaze, -0.2))
    pen.oval(1.12, 0.56, 0.11, 0.13, CREAM)
    pen.line([(0.34, 0.74), (0.14, 0.52), (0.06, 0.3)], [0.22, 0.12, 0.1], shade(glaze, -0.1))
    pen.oval(0.68, 0.62, 0.46, 0.36, glaze)
    pen.oval(0.68, 0.28, 0.27, 0.08, shade(glaze, 0.25))
    pen.dot(0.68, 0.16, 0.07, shade(glaze, -0.2))
    for x in (0.46, 0.68, 0.9):
        pen.dot(x, 0.64, 0.06, mix(glaze, CREAM, 0.8))


def wall_clock(pen: Pen, dice: Dice) -> None:
    """Any time of day."""
    pen.dot(0.5, 0.5, 0.49, dice.pick(pen.paints))
    pen.dot(0.5, 0.5, 0.41, CREAM)
    for u, v in ring(12):
        pen.dot(0.5 + 0.34 * u, 0.5 + 0.34 * v, 0.025, (60, 56, 62))
    for length, width in ((0.2, 0.05), (0.3, 0.035)):
        hand = pen.at(0.5, 0.5, turn=dice.between(0, 1))
        hand.line([(0, 0), (0, -length)], width, (44, 42, 50))
    pen.dot(0.5, 0.5, 0.04, (206, 60, 54))


def guitar(pen: Pen, dice: Dice) -> None:
    """A body with a waist, a hole and six strings."""
    wood = dice.pick(((206, 140, 72), (176, 96, 52), (226, 180, 110), (140, 60, 44)))
    waist = [
        (0.06, 0.84),
        (0.1, 0.68),
        (0.13, 0.6),
        (0.1, 0.5),
        (0.24, 0.42),
        (0.38, 0.5),
        (0.35, 0.6),
    ]
    pen.blob([*waist, (0.38, 0.68), (0.42, 0.84), (0.24, 0.97)], wood)
    pen.dot(0.24, 0.62, 0.07, (52, 36, 30))
    pen.box(0.205, 0.08, 0.275, 0.58, (92, 60, 44))
    pen.box(0.19, 0.0, 0.29, 0.1, (70, 46, 36))
    pen.box(0.15, 0.8, 0.33, 0.84, (70, 46, 36))
    for x in (0.22, 0.24, 0.26):
        pen.line([(x, 0.04), (x, 0.82)], 0.008, (236, 232, 220))


TRINKETS = (
    Thing("backpack", 0.82, backpack, grain=6),
    Thing("banana", 1.24, banana),
    Thing("coffee mug", 1.08, mug, grain=2),
    Thing("cowboy hat", 1.4, cowboy_hat, grain=9),
    Thing("guitar", 0.48, guitar),
    Thing("ice cream", 0.64, ice_cream),
    Thing("strawberry", 0.9, strawberry),
    Thing("table lamp", 0.64, table_lamp),
    Thing("teapot", 1.36, teapot, grain=2),
    Thing("wall clock", 1.0, wall_clock, grain=2),
)
