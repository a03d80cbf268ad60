"""Where scenes take place: backdrops with their own clutter, all of which is background."""

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.household import GREENS, WOODS
from recallseg.data.toy.kit import Colour, Pen, mix, shade
from recallseg.data.toy.outdoors import barn, lighthouse, oak, traffic_light
from recallseg.data.toy.trinkets import table_lamp, wall_clock

SKIES = (
    ((116, 178, 226), (214, 234, 244)),
    ((92, 150, 214), (236, 226, 214)),
    ((150, 176, 200), (222, 226, 228)),
    ((236, 172, 142), (250, 226, 196)),
)
WALLS = ((226, 214, 190), (188, 206, 206), (214, 186, 170), (196, 204, 176), (206, 198, 212))


def wash(pen: Pen, wide: float, top: float, bottom: float, ends: tuple[Colour, Colour]) -> None:
    """A gradient from one colour at the top to another at the bottom."""
    bands = 20
    for index in range(bands):
        low, high = (top + (bottom - top) * (index + step) / bands for step in (0, 1))
        pen.box(0, low, wide, high + 0.01, mix(*ends, index / (bands - 1)))


def sky(pen: Pen, dice: Dice, wide: float, bottom: float) -> None:
    """A sky with clouds, at some time of day."""
    ends = dice.pick(SKIES)
    wash(pen, wide, 0, bottom, ends)
    if dice.chance(0.3):
        pen.dot(dice.between(0.1, wide - 0.1), dice.between(0.08, 0.3), 0.07, (255, 244, 206))
    for _ in range(dice.below(4)):
        x, y, size = dice.between(0, wide), dice.between(0.04, 0.6 * bottom), dice.between(0.5, 1)
        white = mix(ends[1], (255, 255, 255), 0.75)
        for right, down, radius in ((-0.13, 0.02, 0.055), (0, -0.02, 0.085), (0.12, 0.01, 0.065)):
            pen.oval(x + right * size, y + down * size, 1.3 * radius * size, radius * size, white)


def hills(pen: Pen, dice: Dice, wide: float, horizon: float, tones: tuple[Colour, ...]) -> None:
    """Ranges of hills, one before the other."""
    for tone in tones:
        top = horizon - dice.between(0.05, 0.2)
        start = dice.between(-0.3, 0.1)
        crest = [(start + 0.3 * step, top + dice.between(-0.04, 0.06)) for step in range(8)]
        pen.blob([(-0.8, horizon + 0.3), *crest, (wide + 0.9, horizon + 0.3)], tone)


def tufts(pen: Pen, dice: Dice, wide: float, top: float, tone: Colour, count: int) -> None:
    """Blades of grass and a few flowers."""
    for index in range(count):
        x, y = dice.between(0, wide), dice.between(top + 0.03, 1)
        length = 0.03 + 0.05 * (y - top)
        pen.line([(x, y), (x + dice.between(-0.02, 0.02), y - length)], 0.008, tone)
        if index % 6 == 0:
            pen.dot(
                x, y - length, 0.011, dice.pick(((250, 230, 120), (244, 244, 250), (236, 140, 160)))
            )


def air(pen: Pen, dice: Dice, wide: float) -> None:
    """High up, with mountains or fields far below."""
    sky(pen, dice, wide, 1)
    ground = dice.pick(((120, 150, 110), (108, 128, 140), (172, 160, 120)))
    hills(pen, dice, wide, 0.98, (mix(ground, (190, 210, 230), 0.55), ground))


def sea(pen: Pen, dice: Dice, wide: float) -> None:
    """Water to the horizon, a coast perhaps, and waves."""
    sky(pen, dice, wide, 0.5)
    if dice.chance(0.6):
        hills(pen, dice, wide, 0.5, (dice.pick(((130, 150, 160), (116, 140, 110))),))
    if dice.chance(0.3):
        lighthouse(pen.at(dice.pick((0.08, wide - 0.3)), 0.18, 0.36), dice)
    water = dice.pick(((58, 128, 168), (70, 150, 160), (60, 100, 150)))
    wash(pen, wide, 0.5, 1, (shade(water, 0.3), shade(water, -0.15)))
    for _ in range(26):
        x, y = dice.between(0, wide), dice.between(0.53, 1)
        pen.line(
            [(x, y), (x + 0.05 + 0.1 * (y - 0.5), y)], 0.009, shade(water, dice.pick((0.4, -0.2)))
        )


def meadow(pen: Pen, dice: Dice, wide: float) -> None:
    """Grass, hills, trees, a barn or a fence."""
    sky(pen, dice, wide, 0.5)
    grass = dice.pick(((126, 170, 84), (148, 174, 92), (104, 156, 90), (176, 172, 104)))
    hills(
        pen, dice, wide, 0.46, (mix(grass, (150, 180, 200), 0.6), mix(grass, (90, 130, 100), 0.5))
    )
    if dice.chance(0.35):
        barn(pen.at(dice.between(0, wide - 0.3), 0.22, 0.26), dice)
    for _ in range(dice.below(4)):
        size = dice.between(0.2, 0.36)
        oak(pen.at(dice.between(-0.1, wide - 0.1), 0.49 - size, size), dice)
    wash(pen, wide, 0.46, 1, (shade(grass, 0.12), shade(grass, -0.2)))
    if dice.chance(0.4):
        wood = dice.pick(WOODS)
        for index in range(9):
            pen.line([(0.2 * index, 0.44), (0.2 * index, 0.58)], 0.024, wood)
        for y in (0.47, 0.53):
            pen.line([(0, y), (wide, y)], 0.016, shade(wood, 0.15))
    tufts(pen, dice, wide, 0.5, shade(grass, -0.3), 40)


def _houses(pen: Pen, dice: Dice, wide: float, ground: float) -> None:
    """A row of houses with windows, some lit."""
    left = -dice.between(0, 0.2)
    while left < wide:
        right = left + dice.between(0.26, 0.46)
        wall = mix(dice.pick(WALLS), dice.pick(((150, 90, 80), (120, 120, 140))), 0.5)
        top = ground - dice.between(0.3, 0.56)
        pen.box(left, top, right, ground, wall)
        pen.box(left - 0.01, top - 0.025, right + 0.01, top, shade(wall, -0.3))
        for row in range(int((ground - top) / 0.15)):
            for index in range(int((right - left) / 0.11)):
                x, y = left + 0.035 + 0.11 * index, top + 0.045 + 0.15 * row
                glass = (250, 224, 150) if dice.chance(0.2) else shade(wall, -0.35)
                pen.box(x, y, x + 0.055, y + 0.08, glass)
        left = right


def street(pen: Pen, dice: Dice, wide: float) -> None:
    """A row of houses, a pavement and a road with a broken line."""
    sky(pen, dice, wide, 0.6)
    if dice.chance(0.7):
        _houses(pen, dice, wide, 0.58)
    else:
        hills(pen, dice, wide, 0.52, ((130, 156, 120), (110, 146, 96)))
        for index in range(4):
            oak(pen.at(wide * index / 4 + dice.between(-0.1, 0.1), 0.24, 0.36), dice)
    if dice.chance(0.4):
        traffic_light(pen.at(dice.between(0.1, wide - 0.2), 0.22, 0.42), dice)
    asphalt = dice.pick(((106, 108, 116), (122, 118, 116), (92, 96, 108)))
    pen.box(0, 0.56, wide, 0.66, (188, 182, 174))
    pen.box(0, 0.65, wide, 0.68, (148, 142, 138))
    wash(pen, wide, 0.68, 1, (shade(asphalt, 0.1), shade(asphalt, -0.15)))
    for index in range(6):
        pen.box(0.3 * index - 0.1, 0.84, 0.3 * index + 0.06, 0.862, (232, 226, 206))


def railway(pen: Pen, dice: Dice, wide: float) -> None:
    """Rails on sleepers, with a platform or open country behind."""
    sky(pen, dice, wide, 0.6)
    if dice.chance(0.5):
        _houses(pen, dice, wide, 0.6)
    else:
        hills(pen, dice, wide, 0.56, ((140, 164, 130), (112, 148, 100)))
        oak(pen.at(dice.between(0, wide - 0.3), 0.26, 0.34), dice)
    pen.box(0, 0.58, wide, 0.74, (150, 168, 112))
    wash(pen, wide, 0.72, 0.9, ((152, 140, 128), (126, 116, 108)))
    for index in range(16):
        pen.box(0.1 * index, 0.8, 0.1 * index + 0.04, 0.87, (98, 76, 62))
    for y in (0.81, 0.855):
        pen.box(0, y, wide, y + 0.014, (170, 174, 182))
    wash(pen, wide, 0.9, 1, ((190, 184, 176), (170, 164, 158)))


def room(pen: Pen, dice: Dice, wide: float) -> None:
    """A wall with pictures, a window, a clock or a lamp; a floor with a rug."""
    wall = dice.pick(WALLS)
    wash(pen, wide, 0, 0.64, (shade(wall, 0.1), wall))
    if dice.chance(0.35):
        for index in range(14):
            pen.box(0.12 * index, 0, 0.12 * index + 0.05, 0.62, shade(wall, 0.12))
    for x in (dice.between(0.06, 0.24), dice.between(0.56, wide - 0.4)):
        ornament = dice.below(4)
        if ornament == 0:
            pen.box(x, 0.08, x + 0.34, 0.44, (246, 244, 238))
            pen.box(x + 0.025, 0.105, x + 0.315, 0.415, (158, 202, 230))
            pen.box(x + 0.16, 0.1, x + 0.18, 0.42, (246, 244, 238))
        elif ornament == 1:
            pen.box(x, 0.12, x + 0.26, 0.34, dice.pick(WOODS))
            pen.box(
                x + 0.02, 0.14, x + 0.24, 0.32, mix(dice.pick(pen.paints), (255, 255, 255), 0.5)
            )
            pen.fill([(x + 0.02, 0.32), (x + 0.12, 0.22), (x + 0.24, 0.32)], dice.pick(GREENS))
        elif ornament == 2:
            wall_clock(pen.at(x, 0.1, 0.2), dice)
        else:
            pen.box(x - 0.04, 0.5, x + 0.28, 0.7, (124, 92, 70))
            pen.box(x - 0.06, 0.49, x + 0.3, 0.52, (160, 122, 92))
            table_lamp(pen.at(x + 0.02, 0.18, 0.32), dice)
    floor = dice.pick(WOODS)
    pen.box(0, 0.61, wide, 0.65, (244, 240, 232))
    wash(pen, wide, 0.645, 1, (shade(floor, 0.25), floor))
    for y in (0.69, 0.75, 0.83, 0.92):
        pen.box(0, y, wide, y + 0.006, shade(floor, -0.22))
    if dice.chance(0.5):
        rug = mix(dice.pick(pen.paints), (236, 226, 206), 0.45)
        pen.oval(wide / 2, 0.86, 0.46 * wide, 0.1, rug)
        pen.oval(wide / 2, 0.86, 0.38 * wide, 0.075, shade(rug, 0.2))


def tabletop(pen: Pen, dice: Dice, wide: float) -> None:
    """Close to a table or a desk: a wall of tiles or books behind, wood in front."""
    wall = dice.pick(WALLS)
    wash(pen, wide, 0, 0.62, (shade(wall, 0.08), shade(wall, -0.08)))
    if dice.chance(0.5):
        for index in range(10):
            pen.box(0.17 * index, 0, 0.17 * index + 0.008, 0.62, shade(wall, 0.45))
            pen.box(0, 0.15 * index, wide, 0.15 * index + 0.008, shade(wall, 0.45))
    else:
        pen.box(0, 0.34, wide, 0.38, dice.pick(WOODS))
        left = dice.between(-0.1, 0.2)
        while left < wide - 0.2:
            right, top = left + dice.between(0.035, 0.07), dice.between(0.1, 0.16)
            cover = mix(dice.pick(pen.paints), wall, 0.35)
            pen.box(left, top, right, 0.34, cover)
            pen.box(left, top + 0.04, right, top + 0.055, shade(cover, 0.5))
            left = right + (0.006 if dice.chance(0.85) else 0.22)
    wood = dice.pick(WOODS)
    wash(pen, wide, 0.6, 1, (shade(wood, 0.28), shade(wood, 0.02)))
    for _ in range(12):
        x, y = dice.between(-0.2, wide), dice.between(0.63, 0.99)
        pen.line([(x, y), (x + 0.3, y + 0.004)], 0.006, shade(wood, -0.12))


def garden(pen: Pen, dice: Dice, wide: float) -> None:
    """A hedge or a brick wall behind flagstones."""
    if dice.chance(0.5):
        sky(pen, dice, wide, 0.3)
        hedge = dice.pick(GREENS)
        pen.box(0, 0.26, wide, 0.62, shade(hedge, -0.3))
        for _ in range(46):
            x, y = dice.between(0, wide), dice.between(0.24, 0.6)
            pen.dot(x, y, dice.between(0.03, 0.06), shade(hedge, dice.between(-0.35, 0.1)))
    else:
        brick = dice.pick(((178, 104, 82), (196, 150, 120), (150, 96, 90)))
        pen.box(0, 0, wide, 0.64, shade(brick, 0.3))
        for row in range(8):
            for index in range(9):
                left = 0.18 * index - 0.09 * (row % 2)
                tone = shade(brick, dice.between(-0.12, 0.12))
                pen.box(left + 0.006, 0.08 * row + 0.006, left + 0.174, 0.08 * row + 0.074, tone)
    stone = dice.pick(((186, 178, 166), (170, 172, 174), (150, 168, 118)))
    wash(pen, wide, 0.6, 1, (shade(stone, 0.12), shade(stone, -0.12)))
    for index in range(-4, 10):
        pen.line([(0.26 * index, 0.6), (0.42 * index - 0.2, 1)], 0.008, shade(stone, -0.25))
    for y in (0.66, 0.76, 0.89):
        pen.box(0, y, wide, y + 0.008, shade(stone, -0.25))
