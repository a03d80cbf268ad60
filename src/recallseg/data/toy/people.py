"""People, on their feet or astride something."""

from dataclasses import dataclass

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import EYE, Colour, Pen, Point, Thing, shade

BLACK_HAIR = (40, 32, 32)
HAIRS = (BLACK_HAIR, (92, 60, 38), (206, 166, 88), (150, 74, 42), (196, 194, 192))
SKINS = (
    *(((246, 208, 178), hair) for hair in HAIRS),
    *(((226, 176, 138), hair) for hair in HAIRS[:2]),
    *(((190, 136, 98), BLACK_HAIR), ((150, 100, 72), BLACK_HAIR), ((112, 74, 56), (22, 18, 20))),
)
"""Colours of skin and hair that go together."""


@dataclass(frozen=True)
class Clothes:
    """What a person looks like."""

    skin: Colour
    hair: Colour
    top: Colour
    trousers: Colour
    long_hair: bool

    @classmethod
    def of(cls, pen: Pen, dice: Dice) -> "Clothes":
        """Clothes picked at random."""
        trousers = dice.pick(((58, 76, 120), (62, 60, 66), (132, 108, 84), (86, 96, 74)))
        return cls(*dice.pick(SKINS), dice.pick(pen.paints), trousers, dice.chance(0.5))


def _head(pen: Pen, look: Clothes) -> None:
    """A face at the origin, with a radius of about 0.08."""
    if look.long_hair:
        pen.blob(
            [(-0.1, -0.02), (0, -0.12), (0.105, -0.02), (0.13, 0.15), (-0.12, 0.15)], look.hair
        )
    pen.line([(0.005, 0.04), (0.005, 0.12)], 0.06, shade(look.skin, -0.12))
    pen.oval(0, 0, 0.075, 0.09, look.skin)
    pen.blob([(-0.085, -0.02), (-0.04, -0.1), (0.06, -0.1), (0.088, 0.0), (0.0, -0.05)], look.hair)
    for x in (-0.035, 0.025):
        pen.dot(x, 0.0, 0.012, EYE)
    pen.line([(-0.032, 0.04), (-0.006, 0.053), (0.02, 0.04)], 0.013, (170, 74, 72))


def _arm(pen: Pen, look: Clothes, joints: tuple[Point, Point, Point]) -> None:
    shoulder, elbow, hand = joints
    pen.line([shoulder, elbow], [0.085, 0.07], shade(look.top, -0.12))
    pen.line([elbow, hand], [0.055, 0.045], look.skin)
    pen.dot(*hand, 0.032, look.skin)


def person(pen: Pen, dice: Dice) -> None:
    """Someone who stands, walks or waves."""
    look = Clothes.of(pen, dice)
    stride, wave = dice.pick((0.03, 0.07, 0.12)), dice.chance(0.25)
    hips = 0.55
    for side in (-1, 1):
        foot = (0.22 + stride * side, 0.96)
        knee = (0.22 + 0.6 * stride * side - 0.015, 0.75)
        cloth = shade(look.trousers, -0.15 if side > 0 else 0)
        pen.line([(0.22 + 0.035 * side, hips), knee, foot], [0.13, 0.09, 0.07], cloth)
        pen.line([(foot[0] + 0.01, 0.975), (foot[0] - 0.055, 0.98)], 0.045, (60, 46, 42))
    if look.long_hair and dice.chance(0.5):
        pen.fill([(0.15, 0.5), (0.29, 0.5), (0.37, 0.77), (0.07, 0.77)], shade(look.top, -0.2))
    _arm(pen, look, ((0.31, 0.26), (0.35, 0.4), (0.35 + 0.5 * stride, 0.53)))
    chest = [(0.12, 0.23), (0.32, 0.23), (0.335, 0.4), (0.31, 0.58), (0.13, 0.58), (0.105, 0.4)]
    pen.blob(chest, look.top)
    raised = ((0.13, 0.26), (0.03, 0.2), (0.04, 0.05))
    hanging = ((0.13, 0.26), (0.085, 0.4), (0.1 - 0.5 * stride, 0.53))
    _arm(pen, look, raised if wave else hanging)
    _head(pen.at(0.22, 0.115, 1.2), look)


def rider(pen: Pen, dice: Dice) -> None:
    """Someone who sits astride, hands forward; the seat is at y = 1, the legs hang below it."""
    look = Clothes.of(pen, dice)
    pen.line([(0.5, 0.96), (0.2, 1.1), (0.26, 1.45)], [0.2, 0.16, 0.11], look.trousers)
    pen.line([(0.28, 1.48), (0.16, 1.49)], 0.08, (60, 46, 42))
    pen.blob([(0.32, 0.38), (0.56, 0.38), (0.64, 0.7), (0.6, 1.02), (0.38, 1.02)], look.top)
    _arm(pen.at(0.2, 0.0, 1.6), look, ((0.16, 0.3), (0.04, 0.42), (-0.13, 0.45)))
    _head(pen.at(0.4, 0.2, 1.9), look)


PERSON = Thing("person", 0.44, person, grain=5)
RIDER = Thing("person", 0.8, rider, grain=5, below=0.52)
