"""Animals on four legs."""

from dataclasses import dataclass

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import EYE, Colour, Pen, Point, Thing, mix, ring, shade


@dataclass(frozen=True)
class Build:
    """The proportions of an animal on four legs that looks to the left."""

    coat: Colour
    legs: Colour
    leg_width: float
    body: tuple[Point, ...]
    """The smooth outline of the trunk."""
    hips: tuple[float, float, float, float]
    """Where the legs begin: near fore, far fore, near hind, far hind."""
    belly: float
    """The height at which they begin."""
    hoof: Colour = (60, 50, 46)


def legs(pen: Pen, dice: Dice, build: Build, far: bool) -> None:
    """The two legs on the far side or on the near side, in a random step."""
    swing = dice.between(0.02, 0.09)
    colour = shade(build.legs, -0.25) if far else build.legs
    for index in (1, 3) if far else (0, 2):
        hip = build.hips[index]
        foot = hip + (swing if index in (1, 2) else -swing)
        knee = ((hip + foot) / 2 + 0.015, (build.belly + 1) / 2)
        width = build.leg_width
        pen.line([(hip, build.belly), knee, (foot, 0.95)], [1.7 * width, width, width], colour)
        pen.line([(foot, 0.95), (foot - 0.03, 0.97)], width, build.hoof)


def trunk(pen: Pen, dice: Dice, build: Build) -> None:
    """Legs and body without a head."""
    legs(pen, dice, build, far=True)
    pen.blob(build.body, build.coat)
    legs(pen, dice, build, far=False)


def cow(pen: Pen, dice: Dice) -> None:
    """Heavy, patched or brown, with horns and a muzzle; some graze."""
    coat, patch = dice.pick((((240, 236, 230), (52, 46, 48)), ((150, 92, 56), (118, 68, 42))))
    body = ((0.34, 0.34), (0.7, 0.24), (1.2, 0.24), (1.42, 0.3), (1.46, 0.55), (1.3, 0.68))
    build = Build(
        coat,
        shade(coat, -0.1),
        0.085,
        (*body, (0.9, 0.72), (0.44, 0.66)),
        (0.52, 0.62, 1.3, 1.4),
        0.6,
    )
    pen.line([(1.45, 0.32), (1.54, 0.5), (1.52, 0.66)], [0.05, 0.035, 0.06], shade(coat, -0.3))
    pen.oval(1.12, 0.7, 0.1, 0.06, (232, 170, 160))
    trunk(pen, dice, build)
    for x, y in ((0.72, 0.4), (1.14, 0.38), (1.34, 0.52), (0.94, 0.56)):
        across, down = dice.between(0.1, 0.17), dice.between(0.07, 0.11)
        pen.oval(x, y, across, down, patch, turn=dice.between(0, 0.2))
    low = 0.36 if dice.chance(0.35) else 0.0
    pen.line([(0.5, 0.42), (0.3, 0.3 + low)], [0.34, 0.22], coat)
    head = pen.at(0.26, 0.26 + low, 1.2, turn=-0.08 if low else 0.02)
    for side in (-0.02, 0.13):
        head.line([(side, -0.1), (side - 0.02, -0.2)], [0.05, 0.02], (226, 214, 186))
    head.oval(0.16, -0.03, 0.1, 0.04, patch, turn=0.05)
    head.blob([(-0.06, -0.1), (0.14, -0.12), (0.14, 0.1), (-0.1, 0.22), (-0.2, 0.16)], coat)
    head.oval(-0.14, 0.17, 0.09, 0.075, (234, 178, 164))
    head.dot(-0.17, 0.15, 0.018, (140, 80, 80))
    head.dot(0.0, -0.0, 0.028, EYE)


def sheep(pen: Pen, dice: Dice) -> None:
    """Wool in curls on thin legs, with a small face; dark or white."""
    wool = dice.pick(((242, 236, 222), (228, 220, 204), (206, 196, 180)))
    face = dice.pick(((52, 46, 48), (52, 46, 48), (222, 196, 172)))
    build = Build(
        wool,
        face,
        0.07,
        ((0.3, 0.4), (1.0, 0.4), (1.0, 0.6), (0.3, 0.6)),
        (0.42, 0.54, 0.96, 1.06),
        0.7,
    )
    low = 0.26 if dice.chance(0.4) else 0.0
    legs(pen, dice, build, far=True)
    legs(pen, dice, build, far=False)
    pen.oval(0.75, 0.48, 0.45, 0.28, wool)
    curls = [(0.75 + 0.43 * u, 0.48 + 0.26 * v) for u, v in ring(14)]
    for x, y in curls:
        pen.dot(x, y, dice.between(0.085, 0.115), wool)
    for x, y in ring(9):
        pen.oval(0.77 + 0.26 * x, 0.5 + 0.14 * y, 0.06, 0.05, shade(wool, -0.06))
    head = pen.at(0.22, 0.36 + low, turn=-0.06 if low else 0.0)
    head.oval(0.15, -0.02, 0.1, 0.04, shade(face, -0.15), turn=0.06)
    head.blob([(-0.04, -0.12), (0.12, -0.1), (0.13, 0.1), (-0.06, 0.2), (-0.16, 0.14)], face)
    for x, y in ((0.0, -0.13), (0.08, -0.16), (0.15, -0.11)):
        head.dot(x, y, 0.075, wool)
    head.dot(-0.02, 0.0, 0.026, (250, 246, 236))
    head.dot(-0.025, 0.0, 0.015, EYE)


def horse(pen: Pen, dice: Dice) -> None:
    """Long legs, an arched neck, mane and tail."""
    coat = dice.pick(((148, 84, 48), (110, 66, 44), (190, 142, 92), (232, 226, 218), (66, 56, 54)))
    mane = dice.pick((shade(coat, -0.55), (238, 222, 184), (44, 36, 34)))
    body = ((0.42, 0.4), (0.72, 0.36), (1.1, 0.34), (1.24, 0.42), (1.22, 0.58), (0.86, 0.62))
    build = Build(coat, coat, 0.068, (*body, (0.5, 0.6)), (0.5, 0.58, 1.12, 1.2), 0.56)
    pen.blob([(1.18, 0.38), (1.32, 0.4), (1.4, 0.62), (1.34, 0.84), (1.28, 0.6)], mane)
    trunk(pen, dice, build)
    nod = dice.between(-0.02, 0.05)
    pen.blob([(0.36, 0.1 + nod), (0.52, 0.12), (0.78, 0.4), (0.58, 0.42)], mane)
    pen.blob([(0.2, 0.16 + nod), (0.38, 0.1 + nod), (0.5, 0.16), (0.72, 0.42), (0.5, 0.58)], coat)
    head = pen.at(0.26, 0.13 + nod)
    for x in (0.07, 0.13):
        head.fill([(x - 0.04, -0.02), (x + 0.01, -0.14), (x + 0.045, -0.01)], shade(coat, -0.15))
    head.blob([(0.0, -0.05), (0.16, -0.03), (0.12, 0.12), (-0.1, 0.23), (-0.19, 0.18)], coat)
    head.oval(-0.14, 0.17, 0.06, 0.05, mix(coat, (244, 226, 210), 0.4))
    head.blob([(0.06, -0.06), (0.14, -0.04), (0.06, 0.05)], mane)
    head.dot(0.02, 0.02, 0.022, EYE)


def dog(pen: Pen, dice: Dice) -> None:
    """A hanging ear, a long muzzle, a raised tail; it stands, or it sits."""
    coat = dice.pick(
        ((196, 140, 78), (120, 82, 54), (238, 224, 200), (74, 64, 62), (220, 180, 120))
    )
    ear = dice.pick((shade(coat, -0.4), (86, 58, 42)))
    if dice.chance(0.6):
        body = ((0.34, 0.46), (0.7, 0.44), (1.02, 0.44), (1.08, 0.6), (0.9, 0.68), (0.5, 0.72))
        build = Build(coat, coat, 0.085, body, (0.44, 0.54, 0.98, 1.06), 0.6, shade(coat, -0.1))
        wag = dice.between(-0.06, 0.06)
        pen.line([(1.02, 0.5), (1.18, 0.36), (1.2 + wag, 0.16)], [0.09, 0.07, 0.05], coat)
        trunk(pen, dice, build)
    else:
        pen.line([(0.84, 0.92), (1.08, 0.9), (1.16, 0.76)], [0.09, 0.07, 0.05], coat)
        pen.blob([(0.34, 0.4), (0.56, 0.42), (0.86, 0.72), (0.94, 0.98), (0.5, 0.98)], coat)
        pen.line([(0.44, 0.6), (0.42, 0.96)], [0.16, 0.1], shade(coat, -0.08))
        pen.oval(0.72, 0.86, 0.18, 0.13, shade(coat, -0.08))
        pen.line([(0.36, 0.97), (0.46, 0.97)], 0.07, coat)
        pen.line([(0.6, 0.97), (0.76, 0.97)], 0.07, coat)
    pen.line([(0.5, 0.56), (0.38, 0.36)], [0.26, 0.2], coat)
    pen.line([(0.37, 0.49), (0.52, 0.44)], 0.05, dice.pick(pen.paints))
    head = pen.at(0.34, 0.26, turn=dice.between(-0.03, 0.03))
    head.blob([(-0.1, -0.14), (0.1, -0.16), (0.18, 0.02), (0.06, 0.14), (-0.12, 0.1)], coat)
    head.blob([(-0.3, 0.0), (-0.12, -0.05), (-0.02, 0.1), (-0.26, 0.14)], shade(coat, 0.3))
    head.dot(-0.29, 0.02, 0.045, EYE)
    head.line([(-0.24, 0.1), (-0.1, 0.1)], 0.018, shade(coat, -0.5))
    head.blob([(0.06, -0.14), (0.2, -0.08), (0.22, 0.16), (0.1, 0.2), (0.06, 0.02)], ear)
    head.dot(-0.06, -0.04, 0.03, EYE)


def cat(pen: Pen, dice: Dice) -> None:
    """Pointed ears, whiskers and stripes; it sits and looks at us, or it walks by."""
    coat = dice.pick(
        ((226, 146, 72), (132, 128, 130), (60, 54, 58), (240, 232, 220), (168, 128, 90))
    )
    stripe, pale = shade(coat, -0.3), mix(coat, (255, 248, 238), 0.75)
    curl = dice.between(-0.06, 0.04)
    if dice.chance(0.65):
        pen = pen.at(0.12, 0)
        pen.line([(0.56, 0.92), (0.84, 0.9), (0.88, 0.7), (0.8, 0.56 + curl)], 0.085, stripe)
        pen.blob([(0.24, 0.46), (0.56, 0.46), (0.72, 0.78), (0.68, 0.98), (0.12, 0.98)], coat)
        pen.oval(0.4, 0.66, 0.12, 0.18, pale)
        for x in (0.29, 0.5):
            pen.line([(x, 0.7), (x, 0.95)], [0.1, 0.12], shade(coat, -0.06))
            pen.oval(x - 0.01, 0.96, 0.075, 0.04, pale)
        head = pen.at(0.4, 0.28, turn=dice.between(-0.03, 0.03))
    else:
        body = ((0.28, 0.56), (0.6, 0.5), (0.94, 0.52), (1.0, 0.7), (0.84, 0.78), (0.4, 0.78))
        build = Build(coat, coat, 0.085, body, (0.38, 0.5, 0.9, 0.98), 0.7, pale)
        pen.line([(0.96, 0.58), (1.1, 0.4), (1.06, 0.14 + curl)], [0.1, 0.08, 0.06], stripe)
        trunk(pen, dice, build)
        for x in (0.58, 0.7, 0.82):
            pen.line([(x, 0.5), (x + 0.02, 0.62)], 0.035, stripe)
        head = pen.at(0.3, 0.42, 0.9, turn=dice.between(-0.03, 0.03))
    _cat_head(head, dice, coat, pale)


def _cat_head(head: Pen, dice: Dice, coat: Colour, pale: Colour) -> None:
    """Seen from the front."""
    for side in (-1, 1):
        head.fill([(0.28 * side, -0.3), (0.27 * side, -0.02), (0.06 * side, -0.16)], coat)
        ear = [(0.24 * side, -0.22), (0.22 * side, -0.1), (0.13 * side, -0.15)]
        head.fill(ear, (232, 160, 150))
    head.oval(0, 0, 0.28, 0.22, coat)
    for x in (-0.08, 0.0, 0.08):
        head.line([(x, -0.2), (x * 0.7, -0.12)], 0.03, shade(coat, -0.3))
    head.oval(0, 0.1, 0.14, 0.09, pale)
    iris = dice.pick(((140, 190, 80), (226, 190, 70), (110, 170, 210)))
    for side in (-1, 1):
        head.oval(0.12 * side, -0.02, 0.058, 0.05, iris)
        head.oval(0.12 * side, -0.02, 0.02, 0.045, EYE)
        for lift in (0.06, 0.12):
            head.line([(0.1 * side, 0.09), (0.34 * side, lift)], 0.012, (250, 248, 244))
    head.fill([(-0.03, 0.05), (0.03, 0.05), (0, 0.085)], (206, 110, 110))


ANIMALS = (
    Thing("cat", 1.12, cat, grain=9),
    Thing("cow", 1.56, cow, grain=8),
    Thing("dog", 1.24, dog, grain=9),
    Thing("horse", 1.42, horse, grain=7, seat=(0.84, 0.38)),
    Thing("sheep", 1.24, sheep, grain=16),
)
