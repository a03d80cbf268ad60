"""Things that stand in rooms."""

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import Pen, Thing, mix, shade

WOODS = ((150, 98, 58), (112, 70, 44), (196, 150, 100), (222, 196, 156), (84, 60, 48))
GREENS = ((62, 128, 66), (92, 150, 72), (48, 108, 80), (120, 158, 60))


def bottle(pen: Pen, dice: Dice) -> None:
    """A bottle of wine, water or lemonade with a label."""
    glass = dice.pick(((40, 96, 62), (96, 56, 36), (90, 150, 190), (150, 40, 52), (60, 130, 110)))
    shoulder = dice.between(0.3, 0.42)
    pen.box(0.115, 0.06, 0.225, shoulder, glass)
    bulge = [(0.12, shoulder - 0.08), (0.22, shoulder - 0.08), (0.325, shoulder + 0.08)]
    pen.blob(
        [*bulge, (0.33, 0.9), (0.3, 0.995), (0.04, 0.995), (0.01, 0.9), (0.015, shoulder + 0.08)],
        glass,
    )
    cap = dice.pick(((214, 60, 50), (228, 196, 110), (46, 44, 50), (240, 240, 240)))
    pen.box(0.105, 0.0, 0.235, 0.075, cap)
    label = dice.pick(((246, 238, 214), (250, 250, 248), (240, 206, 100)))
    pen.box(0.012, 0.56, 0.328, 0.82, label)
    pen.box(0.012, 0.62, 0.328, 0.66, dice.pick(pen.paints))
    pen.line([(0.1, 0.73), (0.24, 0.73)], 0.022, shade(label, -0.5))
    pen.line([(0.07, shoulder + 0.06), (0.07, 0.52)], 0.03, shade(glass, 0.5))


def chair(pen: Pen, dice: Dice) -> None:
    """A wooden chair, seen from a corner; with slats, or with a cushion."""
    wood = dice.pick(WOODS)
    padded = dice.chance(0.4)
    cloth = dice.pick(pen.paints)
    pen.line([(0.2, 0.56), (0.2, 0.9)], 0.05, shade(wood, -0.4))
    pen.line([(0.6, 0.56), (0.6, 0.9)], 0.05, shade(wood, -0.35))
    for x, lean in ((0.14, -0.02), (0.54, 0.02)):
        pen.line([(x, 0.52), (x + lean, 0.03)], 0.06, wood)
    if padded:
        pen.soft_box(0.14, 0.04, 0.54, 0.46, cloth, 0.07)
        pen.soft_box(0.2, 0.1, 0.48, 0.4, shade(cloth, 0.15), 0.06)
    else:
        pen.line([(0.12, 0.06), (0.56, 0.06)], 0.085, wood)
        for index in range(3):
            x = 0.24 + 0.1 * index
            pen.line([(x, 0.08), (x, 0.5)], 0.042, shade(wood, 0.12))
    pen.fill(
        [(0.14, 0.48), (0.58, 0.48), (0.66, 0.62), (0.04, 0.62)],
        cloth if padded else shade(wood, 0.1),
    )
    pen.fill([(0.04, 0.61), (0.66, 0.61), (0.66, 0.67), (0.04, 0.67)], shade(wood, -0.2))
    for x in (0.08, 0.62):
        pen.line([(x, 0.66), (x, 0.97)], 0.06, wood)


def diningtable(pen: Pen, dice: Dice) -> None:
    """A table with plates on it, in wood or under a cloth."""
    wood = dice.pick(WOODS)
    covered = dice.chance(0.4)
    for x in (0.3, 1.4):
        pen.line([(x, 0.4), (x, 0.86)], 0.06, shade(wood, -0.45))
    for x in (0.13, 1.57):
        pen.line([(x, 0.5), (x, 0.97)], 0.085, shade(wood, -0.15))
    top = mix((250, 246, 240), dice.pick(pen.paints), 0.25) if covered else wood
    pen.fill([(0.24, 0.16), (1.46, 0.16), (1.7, 0.46), (0.0, 0.46)], shade(top, 0.12))
    pen.box(0.0, 0.45, 1.7, 0.53, shade(top, -0.18))
    if covered:
        edge = [(0.0 + 0.17 * step, 0.53 + 0.18 + 0.03 * (step % 2)) for step in range(11)]
        pen.fill([(0.0, 0.5), *edge, (1.7, 0.5)], shade(top, -0.08))
    for x in dice.pick(((0.5, 1.2), (0.36, 0.85, 1.34))):
        pen.oval(x, 0.32, 0.2, 0.075, (250, 250, 250))
        pen.oval(x, 0.315, 0.12, 0.042, dice.pick(((224, 232, 238), (206, 90, 60), (120, 170, 80))))
    if dice.chance(0.5):
        pen.soft_box(0.78, 0.06, 0.94, 0.27, dice.pick(pen.paints), 0.05)
        for x in (0.78, 0.86, 0.95):
            pen.dot(x, 0.05, 0.05, dice.pick(((236, 110, 120), (244, 200, 80), (240, 240, 244))))


def sofa(pen: Pen, dice: Dice) -> None:
    """A couch with two or three cushions."""
    cloth = dice.pick(pen.paints)
    seats = dice.pick((2, 3))
    for x in (0.2, 1.72):
        pen.line([(x, 0.88), (x, 0.97)], 0.07, (84, 60, 46))
    pen.soft_box(0.12, 0.06, 1.8, 0.8, shade(cloth, -0.14), 0.14)
    width = 1.4 / seats
    for index in range(seats):
        left = 0.26 + index * width
        pen.soft_box(left + 0.01, 0.14, left + width - 0.01, 0.58, shade(cloth, 0.08), 0.09)
    for index in range(seats):
        left = 0.26 + index * width
        pen.soft_box(left + 0.005, 0.52, left + width - 0.005, 0.74, shade(cloth, 0.2), 0.07)
    pen.box(0.2, 0.72, 1.72, 0.9, shade(cloth, -0.08))
    for left in (0.0, 1.64):
        pen.soft_box(left, 0.34, left + 0.28, 0.92, cloth, 0.12)
    if dice.chance(0.7):
        x = dice.pick((0.4, 1.3))
        pen.at(x, 0.36, turn=dice.between(-0.03, 0.03)).soft_box(
            0, 0, 0.26, 0.24, dice.pick(pen.paints), 0.05
        )


def leaf(pen: Pen, turn: float, length: float, width: float, colour: tuple[int, int, int]) -> None:
    """A pointed leaf with a rib, from the origin upwards."""
    stem = pen.at(0, 0, turn=turn)
    stem.blob([(0, 0), (-width, -0.5 * length), (0, -length), (width, -0.5 * length)], colour)
    stem.line([(0, -0.1 * length), (0, -0.85 * length)], 0.014, shade(colour, 0.3))


def pottedplant(pen: Pen, dice: Dice) -> None:
    """Leaves that fan out of a clay pot; some plants bloom, some are cacti."""
    clay = dice.pick(((196, 104, 66), (178, 84, 56), (230, 226, 216), (84, 120, 150)))
    green = dice.pick(GREENS)
    kind = dice.below(3)
    if kind == 0:
        pen.soft_box(0.26, 0.1, 0.46, 0.75, green, 0.1)
        pen.line([(0.3, 0.5), (0.1, 0.5), (0.1, 0.3)], 0.12, green)
        pen.line([(0.44, 0.42), (0.62, 0.42), (0.62, 0.22)], 0.12, green)
        for x in (0.31, 0.36, 0.41):
            pen.line([(x, 0.15), (x, 0.6)], 0.016, shade(green, 0.35))
    else:
        for index in range(9):
            turn = (index * 5 % 9 - 4) * 0.048
            tone = shade(green, (-0.2, 0.0, 0.16)[index % 3])
            length = dice.between(0.46, 0.66) if kind == 1 else dice.between(0.34, 0.54)
            leaf(pen.at(0.36, 0.68), turn, length, 0.085 if kind == 1 else 0.12, tone)
        petals = dice.pick(((236, 96, 120), (250, 206, 80), (244, 240, 246)))
        for _ in range(4 if kind == 2 else 0):
            x, y = dice.between(0.16, 0.56), dice.between(0.26, 0.46)
            pen.dot(x, y, 0.06, petals)
            pen.dot(x, y, 0.024, (250, 220, 120))
    pen.fill([(0.12, 0.68), (0.6, 0.68), (0.52, 0.99), (0.2, 0.99)], clay)
    pen.box(0.09, 0.64, 0.63, 0.73, shade(clay, 0.14))


def tvmonitor(pen: Pen, dice: Dice) -> None:
    """A screen on a foot, with something on."""
    case = dice.pick(((34, 36, 42), (52, 54, 62), (196, 198, 204)))
    pen.box(0.58, 0.8, 0.74, 0.94, shade(case, -0.2))
    pen.soft_box(0.38, 0.92, 0.94, 0.995, case, 0.03)
    pen.soft_box(0.0, 0.0, 1.32, 0.84, case, 0.04)
    sky = dice.pick(((74, 148, 214), (40, 60, 110), (244, 150, 90), (90, 190, 170)))
    pen.box(0.06, 0.06, 1.26, 0.76, sky)
    if dice.chance(0.5):
        pen.dot(dice.between(0.3, 1.0), 0.28, 0.11, (255, 238, 170))
        pen.fill(
            [(0.06, 0.76), (0.36, 0.4), (0.62, 0.66), (0.9, 0.34), (1.26, 0.76)],
            mix(sky, (30, 80, 60), 0.7),
        )
    else:
        for index in range(4):
            top = 0.13 + 0.15 * index
            pen.box(
                0.14, top, dice.between(0.5, 1.1), top + 0.07, shade(sky, (0.6, 0.35)[index % 2])
            )
    pen.fill([(0.06, 0.06), (0.4, 0.06), (0.06, 0.5)], shade(sky, 0.28))
    pen.dot(1.22, 0.8, 0.016, (90, 230, 120))


def cabinet(pen: Pen, dice: Dice) -> None:
    """A low piece of furniture for something to stand on; it is background."""
    wood = dice.pick(WOODS)
    for x in (0.2, 2.4):
        pen.line([(x, 0.8), (x, 0.96)], 0.1, shade(wood, -0.4))
    pen.box(0.0, 0.0, 2.6, 0.86, wood)
    pen.box(0.0, 0.0, 2.6, 0.12, shade(wood, 0.2))
    for left in (0.1, 1.36):
        pen.box(left, 0.22, left + 1.14, 0.76, shade(wood, -0.15))
        pen.dot(left + 0.57, 0.48, 0.07, (230, 210, 150))


CABINET = Thing("cabinet", 2.6, cabinet, grain=6)
HOUSEHOLD = (
    Thing("bottle", 0.34, bottle, grain=2),
    Thing("chair", 0.7, chair, grain=7),
    Thing("diningtable", 1.7, diningtable, grain=6, seat=(0.85, 0.34)),
    Thing("pottedplant", 0.72, pottedplant, grain=6),
    Thing("sofa", 1.92, sofa, grain=9, seat=(0.9, 0.56)),
    Thing("tvmonitor", 1.32, tvmonitor, grain=1),
)
