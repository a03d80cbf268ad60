"""Things that move: on roads, rails, water and in the air."""

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import Colour, Pen, Thing, mix, shade

GLASS = (96, 132, 158)
TYRE = (38, 38, 44)
STEEL = (176, 182, 190)
LAMP = (255, 232, 150)


def wheel(pen: Pen, x: float, y: float, radius: float) -> None:
    """A tyre with a hub cap."""
    pen.dot(x, y, radius, TYRE)
    pen.dot(x, y, 0.62 * radius, STEEL)
    pen.dot(x, y, 0.2 * radius, (90, 94, 104))


def window(pen: Pen, left: float, top: float, right: float, bottom: float) -> None:
    """Glass with the sky in its upper corner."""
    pen.soft_box(left, top, right, bottom, GLASS, 0.025)
    middle = left + 0.6 * (right - left)
    pen.fill([(left, top), (middle, top), (left, bottom)], shade(GLASS, 0.35))


def aeroplane(pen: Pen, dice: Dice) -> None:
    """An airliner with swept wings."""
    white = mix((238, 242, 246), dice.pick(pen.paints), dice.between(0, 0.12))
    paint = dice.pick(pen.paints)
    pen = pen.at(0, 0.08)
    far, near = dice.between(-0.06, 0.08), dice.between(0.84, 1.0)
    pen.fill([(0.95, 0.42), (1.2, far), (1.36, far), (1.32, 0.42)], shade(white, -0.28))
    pen.fill([(1.68, 0.42), (1.98, -0.1), (2.2, -0.1), (2.12, 0.44)], paint)
    body = [(0.02, 0.5), (0.14, 0.38), (0.4, 0.32), (1.0, 0.3), (1.7, 0.34), (2.2, 0.4)]
    pen.blob([*body, (2.16, 0.48), (1.6, 0.62), (1.0, 0.66), (0.4, 0.65), (0.12, 0.6)], white)
    pen.fill([(0.1, 0.53), (2.0, 0.47), (1.75, 0.56), (0.15, 0.58)], paint)
    pen.fill([(0.13, 0.41), (0.28, 0.36), (0.28, 0.45), (0.1, 0.46)], (46, 62, 84))
    for index in range(12):
        pen.dot(0.42 + 0.105 * index, 0.43, 0.028, (60, 78, 104))
    pen.soft_box(0.8, 0.68, 1.12, 0.84, shade(paint, -0.15), 0.07)
    pen.fill([(0.86, 0.56), (1.36, 0.56), (1.62, near), (1.46, near)], shade(white, -0.16))
    pen.fill([(1.86, 0.46), (2.1, 0.44), (2.3, 0.58), (2.18, 0.6)], shade(white, -0.2))


def boat(pen: Pen, dice: Dice) -> None:
    """A sailing boat, or a fishing boat with a cabin."""
    hull, trim = dice.pick(pen.paints), (244, 240, 228)
    if dice.chance(0.6):
        sail = mix((250, 246, 236), dice.pick(pen.paints), dice.pick((0.0, 0.0, 0.55)))
        lean = dice.between(-0.04, 0.04)
        pen.line([(0.56, 0.8), (0.56 + lean, 0.0)], 0.026, (122, 84, 58))
        pen.blob([(0.6 + lean, 0.03), (0.92, 0.4), (1.06, 0.67), (0.6, 0.69)], sail)
        pen.fill([(0.53 + lean, 0.08), (0.52, 0.68), (0.14, 0.67)], shade(sail, -0.14))
        pen.line([(0.66, 0.46), (0.94, 0.47)], 0.022, dice.pick(pen.paints))
    else:
        pen.box(0.38, 0.4, 0.82, 0.78, trim)
        pen.box(0.33, 0.36, 0.87, 0.42, hull)
        for left in (0.42, 0.62):
            window(pen, left, 0.47, left + 0.15, 0.62)
        pen.line([(0.7, 0.38), (0.7, 0.08)], 0.03, (96, 88, 84))
        pen.fill([(0.71, 0.08), (0.96, 0.14), (0.71, 0.2)], dice.pick(pen.paints))
    pen.fill([(0.0, 0.7), (1.16, 0.7), (0.96, 1.0), (0.2, 1.0)], hull)
    pen.fill([(0.0, 0.7), (1.16, 0.7), (1.13, 0.76), (0.04, 0.76)], trim)
    pen.fill([(0.15, 0.92), (1.02, 0.92), (0.96, 1.0), (0.2, 1.0)], shade(hull, -0.4))


def bus(pen: Pen, dice: Dice) -> None:
    """A city bus, on some days with two decks."""
    paint = dice.pick(pen.paints)
    double = dice.chance(0.35)
    top = 0.0 if double else 0.2
    pen.soft_box(0.02, top, 1.72, 0.88, paint, 0.08)
    pen.box(0.02, 0.66, 1.72, 0.73, mix(paint, (255, 255, 255), 0.7))
    decks = ((0.06, 0.3), (0.38, 0.62)) if double else ((0.3, 0.6),)
    for upper, lower in decks:
        window(pen, 0.05, upper, 0.2, lower + 0.06 * (not double))
        for index in range(4):
            window(pen, 0.5 + 0.3 * index, upper, 0.74 + 0.3 * index, lower)
    pen.box(0.25, decks[-1][0], 0.45, 0.85, shade(paint, -0.35))
    window(pen, 0.27, decks[-1][0] + 0.02, 0.345, 0.8)
    window(pen, 0.355, decks[-1][0] + 0.02, 0.43, 0.8)
    pen.box(0.02, 0.84, 1.72, 0.89, (58, 58, 66))
    pen.dot(0.07, 0.77, 0.038, LAMP)
    pen.box(1.68, 0.74, 1.72, 0.82, (226, 60, 50))
    for x in (0.62, 1.38):
        wheel(pen, x, 0.87, 0.13)


def car(pen: Pen, dice: Dice) -> None:
    """A saloon, a hatchback or an estate."""
    paint = dice.pick(pen.paints)
    rear, roof = dice.pick(((1.46, 1.2), (1.74, 1.42), (1.84, 1.6)))
    cabin = [(0.42, 0.44), (0.72, 0.07), (0.84, 0.03), (roof, 0.03), (roof + 0.1, 0.08)]
    pen.fill([*cabin, (rear + 0.1, 0.44)], paint)
    pen.fill([(0.54, 0.42), (0.78, 0.12), (1.02, 0.12), (1.02, 0.42)], GLASS)
    pen.fill([(0.54, 0.42), (0.78, 0.12), (0.9, 0.12), (0.68, 0.42)], shade(GLASS, 0.4))
    pen.fill([(1.1, 0.12), (roof + 0.02, 0.12), (rear - 0.04, 0.42), (1.1, 0.42)], GLASS)
    side = [(0.02, 0.62), (0.08, 0.5), (0.4, 0.42), (1.2, 0.4), (1.9, 0.43), (2.0, 0.58)]
    pen.blob([*side, (1.97, 0.8), (1.5, 0.84), (0.6, 0.84), (0.05, 0.8)], paint)
    pen.fill([(0.06, 0.7), (1.97, 0.7), (1.95, 0.8), (0.08, 0.8)], shade(paint, -0.28))
    pen.line([(0.5, 0.5), (1.86, 0.5)], 0.022, shade(paint, 0.35))
    pen.line([(1.06, 0.46), (1.06, 0.76)], 0.014, shade(paint, -0.4))
    pen.oval(0.1, 0.57, 0.07, 0.05, LAMP)
    pen.box(1.91, 0.5, 1.98, 0.6, (214, 50, 44))
    for x in (0.44, 1.56):
        pen.dot(x, 0.8, 0.23, shade(paint, -0.6))
        wheel(pen, x, 0.81, 0.19)


def train(pen: Pen, dice: Dice) -> None:
    """A rail car with a nose, and the beginning of the next one; the wheels are small."""
    paint = dice.pick(pen.paints)
    body = mix(paint, (236, 238, 240), dice.pick((0.0, 0.85)))
    stripe = paint if body != paint else (244, 214, 90)
    pen.box(2.28, 0.16, 2.6, 0.86, shade(body, -0.1))
    pen.box(2.24, 0.24, 2.3, 0.84, (50, 50, 56))
    nose = [(0.0, 0.74), (0.07, 0.5), (0.3, 0.2), (0.46, 0.14)]
    pen.fill([*nose, (2.25, 0.14), (2.25, 0.87), (0.04, 0.87)], body)
    pen.fill([(0.02, 0.68), (2.25, 0.63), (2.25, 0.73), (0.0, 0.77)], stripe)
    pen.fill([(0.13, 0.44), (0.31, 0.23), (0.48, 0.23), (0.48, 0.46)], (48, 66, 88))
    for index in range(6):
        window(pen, 0.74 + 0.25 * index, 0.27, 0.93 + 0.25 * index, 0.5)
    pen.box(0.54, 0.26, 0.67, 0.84, shade(body, -0.22))
    window(pen, 2.36, 0.27, 2.56, 0.5)
    pen.box(0.3, 0.86, 2.6, 0.92, (66, 66, 74))
    for x in (0.42, 0.66, 1.72, 1.98, 2.5):
        pen.dot(x, 0.93, 0.07, (54, 54, 62))
        pen.dot(x, 0.93, 0.03, STEEL)
    pen.line([(1.1, 0.13), (1.3, 0.02), (1.5, 0.13)], 0.025, (70, 70, 78))
    pen.line([(1.16, 0.02), (1.44, 0.02)], 0.025, (70, 70, 78))
    pen.dot(0.1, 0.62, 0.035, LAMP)


def spoked(pen: Pen, x: float, y: float, radius: float, tyre: float, rim: Colour) -> None:
    """A wheel that one can nearly see through."""
    pen.oval(x, y, radius, radius, TYRE)
    pen.oval(x, y, radius - tyre, radius - tyre, shade(rim, 0.45))
    for turn in range(6):
        pen.at(x, y, turn=turn / 12).line([(-radius, 0), (radius, 0)], 0.014, (120, 124, 132))
    pen.dot(x, y, 0.05, (70, 72, 80))


def bicycle(pen: Pen, dice: Dice) -> None:
    """A diamond frame on two spoked wheels."""
    paint, rim = dice.pick(pen.paints), (206, 212, 216)
    for x in (0.34, 1.26):
        spoked(pen, x, 0.67, 0.33, 0.05, rim)
    head, seat, pedals, rear = (0.52, 0.22), (0.96, 0.24), (0.78, 0.7), (1.26, 0.67)
    for one, other in ((head, seat), (head, pedals), (seat, pedals), (seat, rear), (pedals, rear)):
        pen.line([one, other], 0.06, paint)
    pen.line([(0.34, 0.67), (0.48, 0.1)], 0.055, shade(paint, -0.2))
    pen.line([(0.36, 0.14), (0.5, 0.08), (0.58, 0.08)], 0.05, TYRE)
    pen.line([seat, (1.0, 0.12)], 0.045, STEEL)
    pen.line([(0.88, 0.1), (1.12, 0.09)], [0.05, 0.09], (70, 48, 40))
    pen.dot(*pedals, 0.085, (84, 86, 94))
    pen.line([(0.7, 0.8), (0.78, 0.7), (0.86, 0.6)], 0.04, (60, 62, 70))


def motorbike(pen: Pen, dice: Dice) -> None:
    """Fat tyres, an engine between them, a tank and an exhaust."""
    paint = dice.pick(pen.paints)
    for x in (0.3, 1.36):
        wheel(pen, x, 0.72, 0.28)
    pen.line([(0.3, 0.72), (0.56, 0.2)], 0.075, STEEL)
    pen.fill([(0.6, 0.5), (1.1, 0.5), (1.04, 0.84), (0.66, 0.84)], (84, 88, 98))
    for index in range(3):
        pen.line([(0.68, 0.58 + 0.08 * index), (1.0, 0.58 + 0.08 * index)], 0.026, STEEL)
    pen.line([(0.84, 0.84), (1.2, 0.86), (1.66, 0.78)], [0.06, 0.08, 0.1], (200, 204, 210))
    pen.blob([(0.5, 0.42), (0.62, 0.26), (0.9, 0.24), (1.04, 0.4), (0.9, 0.5), (0.6, 0.5)], paint)
    pen.blob([(0.96, 0.4), (1.2, 0.3), (1.6, 0.22), (1.62, 0.34), (1.2, 0.5), (1.0, 0.52)], TYRE)
    pen.fill([(1.12, 0.44), (1.66, 0.28), (1.7, 0.42), (1.4, 0.54)], paint)
    pen.fill([(0.05, 0.48), (0.26, 0.38), (0.5, 0.44), (0.46, 0.52)], paint)
    pen.line([(0.5, 0.24), (0.68, 0.08)], 0.06, TYRE)
    pen.dot(0.44, 0.26, 0.1, STEEL)
    pen.dot(0.41, 0.26, 0.07, LAMP)


VEHICLES = (
    Thing("aeroplane", 2.35, aeroplane, grain=3),
    Thing("bicycle", 1.6, bicycle, grain=3, seat=(1.0, 0.1)),
    Thing("boat", 1.16, boat, grain=5),
    Thing("bus", 1.74, bus, grain=3),
    Thing("car", 2.02, car, grain=3),
    Thing("motorbike", 1.7, motorbike, grain=4, seat=(1.18, 0.32)),
    Thing("train", 2.6, train, grain=3),
)
