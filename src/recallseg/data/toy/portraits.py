"""The same things in two other styles: photos of a photo site, and pictures for a generator."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from recallseg.data.toy import places
from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import Pen, Thing, mix, shade
from recallseg.data.toy.outdoors import OUTDOORS
from recallseg.data.toy.scenes import HEIGHTS, THINGS
from recallseg.data.toy.studio import Picture, Spot, Style, backdrop_pen, developed
from recallseg.data.toy.trinkets import TRINKETS

SNAPSHOT = Style(
    key=2,
    paints=(
        *((182, 74, 62), (62, 96, 130), (214, 170, 92), (96, 130, 96), (206, 140, 96)),
        *((126, 96, 120), (110, 156, 156), (240, 230, 210), (84, 84, 88), (190, 120, 124)),
    ),
    relief=50,
    grain=50,
    tone=(256, 246, 226),
    fade=26,
    vignette=64,
)
"""An old film: fewer colours, warm, dark at its corners."""
PLATE = Style(
    key=3,
    paints=(
        *((226, 40, 60), (30, 90, 220), (255, 200, 30), (20, 160, 110), (255, 120, 30)),
        *((140, 60, 190), (0, 170, 200), (250, 250, 250), (60, 60, 70), (250, 110, 170)),
    ),
    relief=170,
    grain=30,
    shadow=70,
)
"""A picture book: strong colours and a hard light, one thing on a plain ground."""
TWINS: Mapping[str, str] = {
    **{"aeroplane": "airliner", "bicycle": "mountain bike", "bird": "goldfinch"},
    **{"boat": "yawl", "bottle": "wine bottle", "bus": "trolleybus", "car": "convertible"},
    **{"cat": "tabby", "chair": "folding chair", "cow": "ox", "diningtable": "kitchen table"},
    **{"dog": "beagle", "horse": "sorrel", "motorbike": "moped", "person": "hiker"},
    **{"pottedplant": "flowerpot", "sheep": "ram", "sofa": "studio couch"},
    **{"train": "bullet train", "tvmonitor": "screen"},
}
"""Our class names to those of a generator that was trained without them."""
SUBJECTS: Mapping[str, Thing] = dict(
    sorted(
        [(TWINS[name], thing) for name, thing in THINGS.items()]
        + [(thing.name, thing) for thing in (*OUTDOORS, *TRINKETS)]
    )
)
"""The classes of pictures for a generator: twins of ours, and as many that we do not have."""


def draw_snapshot(
    seed: int, number: int, names: Sequence[str], size: tuple[int, int]
) -> npt.NDArray[np.uint8]:
    """A photo (H, W, 3) of one class, or of two side by side, as people put them on a site."""
    dice, film = (Dice(seed, SNAPSHOT.key, number, use) for use in (0, 1))
    pen = backdrop_pen(size, SNAPSHOT)
    dice.pick((_beach, _snow, _lights, _paper, _studio))(pen, dice, size[0] / size[1])
    picture = Picture(developed(pen.canvas, film, rough=5), SNAPSHOT, film)
    share = 1.0 / len(names)
    tallest = max(HEIGHTS[name] for name in names)
    for index, name in enumerate(dice.shuffled(names)):
        thing = THINGS[name]
        room = min(0.7 * HEIGHTS[name] / tallest, 0.86 * share * size[0] / size[1] / thing.aspect)
        height = size[1] * room * dice.between(0.84, 1.1)
        x = size[0] * share * (index + 0.5 + dice.between(-0.08, 0.08))
        ground = size[1] * min(0.97, 0.52 + 0.5 * room + dice.between(0, 0.04))
        lean, mirror = dice.between(-0.03, 0.03), dice.chance(0.5)
        picture.add(thing, Spot(x, ground, height, mirror, lean), 0, dice)
    return picture.photo()


def draw_plate(seed: int, subject: str, number: int, side: int = 64) -> npt.NDArray[np.uint8]:
    """A square picture (side, side, 3) of one subject in the middle, as it always stands."""
    thing = SUBJECTS[subject]
    kind = list(SUBJECTS).index(subject)
    dice, film = (Dice(seed, PLATE.key, kind, number, use) for use in (0, 1))
    pen = backdrop_pen((side, side), PLATE)
    dice.pick((_studio, _spot_light, _two_tone))(pen, dice, 1.0)
    picture = Picture(developed(pen.canvas, film, rough=3), PLATE, film)
    room = min(0.84, 0.92 / thing.aspect) * dice.between(0.88, 1.06)
    x = side * (0.5 + dice.between(-0.03, 0.03))
    turn = dice.between(-0.02, 0.02)
    spot = Spot(x, side * (0.52 + 0.48 * room), side * room, turn=turn)
    picture.add(thing, spot, 0, dice)
    return picture.photo()


def _beach(pen: Pen, dice: Dice, wide: float) -> None:
    places.wash(pen, wide, 0, 0.4, ((190, 214, 222), (236, 232, 214)))
    places.wash(pen, wide, 0.4, 0.56, ((110, 160, 176), (160, 196, 196)))
    places.wash(pen, wide, 0.55, 1, ((236, 214, 170), (206, 176, 130)))
    for _ in range(30):
        pen.dot(dice.between(0, wide), dice.between(0.6, 1), 0.008, (190, 156, 112))


def _snow(pen: Pen, dice: Dice, wide: float) -> None:
    places.wash(pen, wide, 0, 0.7, ((150, 166, 190), (214, 220, 230)))
    places.hills(pen, dice, wide, 0.6, ((176, 188, 206), (204, 212, 224)))
    places.wash(pen, wide, 0.6, 1, ((236, 240, 246), (206, 214, 228)))
    for _ in range(40):
        pen.dot(
            dice.between(0, wide), dice.between(0, 0.9), dice.between(0.006, 0.014), (250, 250, 252)
        )


def _lights(pen: Pen, dice: Dice, wide: float) -> None:
    """Lights of a town out of focus, at night."""
    places.wash(pen, wide, 0, 1, ((44, 46, 70), (96, 78, 86)))
    for _ in range(18):
        glow = dice.pick(((250, 190, 110), (240, 120, 90), (130, 170, 210), (240, 230, 190)))
        x, y, radius = dice.between(0, wide), dice.between(0, 0.7), dice.between(0.03, 0.09)
        pen.dot(x, y, radius, mix((60, 56, 76), glow, 0.45))
    places.wash(pen, wide, 0.76, 1, ((92, 84, 90), (66, 60, 68)))


def _paper(pen: Pen, dice: Dice, wide: float) -> None:
    """Wallpaper with dots or stripes over a floor."""
    wall = mix(dice.pick(pen.paints), (240, 232, 214), 0.6)
    pen.box(0, 0, wide, 1, wall)
    dotted = dice.chance(0.5)
    for index in range(14):
        if dotted:
            for row in range(7):
                x = 0.13 * index + 0.065 * (row % 2)
                pen.dot(x, 0.05 + 0.11 * row, 0.022, shade(wall, -0.16))
        else:
            pen.box(0.13 * index, 0, 0.13 * index + 0.05, 0.8, shade(wall, 0.25))
    floor = dice.pick(((130, 100, 78), (170, 140, 110), (110, 106, 104)))
    places.wash(pen, wide, 0.76, 1, (shade(floor, 0.15), floor))


def _studio(pen: Pen, dice: Dice, wide: float) -> None:
    """A roll of coloured paper."""
    tint = mix(dice.pick(pen.paints), (236, 236, 236), 0.62)
    places.wash(pen, wide, 0, 0.72, (shade(tint, -0.1), shade(tint, 0.2)))
    places.wash(pen, wide, 0.7, 1, (shade(tint, 0.26), shade(tint, -0.06)))


def _spot_light(pen: Pen, dice: Dice, wide: float) -> None:
    tint = mix(dice.pick(pen.paints), (230, 230, 236), 0.5)
    pen.box(0, 0, wide, 1, shade(tint, -0.2))
    for step in range(5):
        radius = 0.56 - 0.07 * step
        pen.dot(0.5 * wide, 0.5, radius, shade(tint, -0.14 + 0.07 * step))


def _two_tone(pen: Pen, dice: Dice, wide: float) -> None:
    one, other = (mix(dice.pick(pen.paints), (244, 244, 240), 0.6) for _ in range(2))
    pen.box(0, 0, wide, 0.75, one)
    pen.box(0, 0.74, wide, 1, shade(other, -0.1))
