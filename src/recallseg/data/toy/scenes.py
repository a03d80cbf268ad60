"""Scenes of several things: what is where, how large, on top of what and behind what."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from recallseg.data.dataset import Mask
from recallseg.data.toy import places
from recallseg.data.toy.animals import ANIMALS
from recallseg.data.toy.birds import BIRD, FLYING_BIRD
from recallseg.data.toy.dice import Dice
from recallseg.data.toy.household import CABINET, HOUSEHOLD
from recallseg.data.toy.kit import Pen, Thing
from recallseg.data.toy.people import PERSON, RIDER
from recallseg.data.toy.studio import Picture, Spot, Style, backdrop_pen, developed
from recallseg.data.toy.vehicles import VEHICLES
from recallseg.data.voc import CLASSES

SIZE = (144, 112)
"""Width and height of a landscape scene in pixels; a fifth of the scenes are portrait."""
THINGS: Mapping[str, Thing] = {t.name: t for t in (*VEHICLES, BIRD, *ANIMALS, PERSON, *HOUSEHOLD)}
MAINS = CLASSES[1:]
"""The class that each scene is made for, in turn."""
WORLD = Style(
    key=1,
    paints=(
        *((206, 62, 54), (44, 104, 178), (240, 184, 62), (60, 140, 104), (232, 124, 60)),
        *((120, 84, 150), (70, 160, 180), (230, 228, 220), (90, 96, 108), (216, 120, 140)),
    ),
)
HEIGHTS = {
    **{"aeroplane": 0.36, "bicycle": 0.46, "bird": 0.34, "boat": 0.6, "bottle": 0.56},
    **{"bus": 0.54, "car": 0.38, "cat": 0.48, "chair": 0.56, "cow": 0.5, "diningtable": 0.46},
    **{"dog": 0.46, "horse": 0.6, "motorbike": 0.46, "person": 0.7, "pottedplant": 0.5},
    **{"sheep": 0.44, "sofa": 0.48, "train": 0.44, "tvmonitor": 0.46},
}
"""How much of the picture's height a thing takes in the foreground."""
CONFUSABLE = (("bus", "train"), ("cow", "sheep"), ("chair", "sofa"), ("bicycle", "motorbike"))
"""Pairs of classes that share shapes and colours, so that a model takes one for the other."""


@dataclass(frozen=True)
class Place:
    """A backdrop, the height where its ground begins, and the things seen there by weight."""

    paint: Callable[[Pen, Dice, float], None]
    horizon: float
    inhabitants: Mapping[str, int]


PLACES = (
    Place(places.air, 0.0, {"aeroplane": 6, "bird": 3}),
    Place(places.sea, 0.55, {"boat": 6, "bird": 2}),
    Place(
        places.meadow,
        0.55,
        {"cow": 4, "sheep": 4, "horse": 4, "person": 3, "dog": 2, "bird": 1, "bicycle": 1},
    ),
    Place(
        places.street,
        0.66,
        {"car": 4, "bus": 4, "bicycle": 2, "motorbike": 4, "person": 4, "dog": 1, "train": 1},
    ),
    Place(places.railway, 0.72, {"train": 6, "person": 3, "bicycle": 1, "dog": 1, "bus": 1}),
    Place(
        places.room,
        0.7,
        {
            **{"sofa": 6, "tvmonitor": 2, "chair": 1, "cat": 2, "pottedplant": 1},
            **{"person": 2, "dog": 1},
        },
    ),
    Place(
        places.room,
        0.7,
        {
            **{"diningtable": 6, "chair": 4, "bottle": 2, "person": 2, "pottedplant": 1},
            **{"sofa": 2, "cat": 1},
        },
    ),
    Place(places.tabletop, 0.62, {"bottle": 5, "tvmonitor": 3, "pottedplant": 2, "cat": 1}),
    Place(
        places.garden,
        0.66,
        {"pottedplant": 3, "bird": 3, "cat": 2, "bicycle": 3, "chair": 2, "dog": 3, "person": 1},
    ),
)
MOUNTS = ("bicycle", "horse", "motorbike")
PERCHES = {"sofa": ("cat", "dog"), "diningtable": ("bottle", "pottedplant")}
"""What may be on top of what."""
RAISED = ("bottle", "tvmonitor")
"""What does not stand on the floor of a room."""


@dataclass(frozen=True)
class Member:
    """A thing in its spot; `label` is its class id."""

    thing: Thing
    spot: Spot
    label: int


def draw_scene(
    seed: int, number: int, size: tuple[int, int] = SIZE, split: int = 0
) -> tuple[npt.NDArray[np.uint8], Mask]:
    """Scene `number` of a world: its photo (H, W, 3) and mask (H, W).

    The main thing goes through all classes in turn, so that no class is rare.
    """
    dice, film = (Dice(seed, WORLD.key, split, number, use) for use in (0, 1))
    main = MAINS[number % len(MAINS)]
    if dice.chance(0.2):
        size = (size[1], size[0])
    weights = {index: place.inhabitants.get(main, 0) for index, place in enumerate(PLACES)}
    place = PLACES[dice.weighted(weights)]
    pen = backdrop_pen(size, WORLD)
    place.paint(pen, dice, size[0] / size[1])
    picture = Picture(developed(pen.canvas, film), WORLD, film)
    for member in cast(main, place, size, dice):
        picture.add(member.thing, member.spot, member.label, dice)
    return picture.photo(), picture.mask()


def cast(main: str, place: Place, size: tuple[int, int], dice: Dice) -> list[Member]:
    """The things of a scene, from the farthest to the nearest."""
    others = _companions(main, place, dice)
    names = sorted([main, *others], key=lambda name: -HEIGHTS[name] * THINGS[name].aspect)
    scale = size[1] if size[0] >= size[1] else size[0] * 0.95
    lanes = dice.shuffled(range(len(names)))
    members: list[Member] = []
    laden: list[Member] = []
    for rank, (name, lane) in enumerate(zip(names, lanes, strict=True)):
        hosts = [one for one in members if _carries(one, name) and one not in laden]
        if hosts and dice.chance(0.65):
            members.insert(members.index(hosts[0]) + 1, _perched(name, hosts[0], dice))
            laden.append(hosts[0])
            continue
        depth = (rank + dice.between(0.2, 0.8)) / len(names)
        x = size[0] * (lane + dice.between(0.3, 0.7)) / len(names)
        member = _standing(name, x, depth, place, size[1], scale, dice)
        raised = name in RAISED and place.paint is places.room
        members += _on_cabinet(member) if raised else [member]
    return members


def _companions(main: str, place: Place, dice: Dice) -> list[str]:
    """None to three others; the same kind again only now and then."""
    count = dice.weighted({0: 16, 1: 42, 2: 30, 3: 12})
    weights = dict(place.inhabitants)
    names: list[str] = []
    for _ in range(count):
        weights[main] = 1
        name = dice.weighted(weights)
        weights[name] = 1
        names.append(name)
    return names


def _standing(
    name: str, x: float, depth: float, place: Place, height: int, scale: float, dice: Dice
) -> Member:
    """A thing on the ground, larger and lower the nearer it is; birds and aeroplanes fly."""
    tall = HEIGHTS[name] * scale * (0.8 + 0.25 * depth) * dice.between(0.88, 1.14)
    ground = height * (place.horizon + (0.96 - place.horizon) * (0.3 + 0.7 * depth))
    flies = place.horizon == 0 or (name == "bird" and place.paint is places.sea)
    if flies:
        ground = dice.between(tall * 1.1, height * 0.86)
    elif name == "train":
        ground = 0.88 * height
    mirror = dice.chance(0.5)
    lean = dice.between(-0.04, 0.04) if flies else dice.between(-0.012, 0.012)
    spot = Spot(x, ground, tall, mirror, lean, floats=flies or place.paint is places.sea)
    thing = FLYING_BIRD if name == "bird" and flies else THINGS[name]
    return Member(thing, spot, CLASSES.index(name))


def _on_cabinet(member: Member) -> list[Member]:
    """A thing that does not stand on the floor, and what it stands on."""
    spot = member.spot
    cabinet = replace(spot, height=0.42 * spot.height, turn=0)
    raised = replace(spot, ground=spot.ground - 0.4 * spot.height, floats=True)
    return [Member(CABINET, cabinet, 0), replace(member, spot=raised)]


def _carries(member: Member, name: str) -> bool:
    """Whether someone or something of that name may be on a member."""
    rides = name == "person" and member.thing.name in MOUNTS
    return rides or name in PERCHES.get(member.thing.name, ())


def _perched(name: str, host: Member, dice: Dice) -> Member:
    """A thing on its host's seat, in proportion to the host."""
    assert host.thing.seat is not None
    thing = RIDER if name == "person" else THINGS[name]
    share = {"person": 0.62, "bottle": 0.62, "pottedplant": 0.7}.get(name, 0.78)
    x, y = host.thing.seat
    side = -1 if host.spot.mirror else 1
    slide = 0 if name == "person" else dice.between(-0.4, 0.4)
    across = side * (x - host.thing.aspect / 2 + slide)
    spot = Spot(
        host.spot.x + across * host.spot.height,
        host.spot.ground - (1 - y) * host.spot.height,
        share * host.spot.height,
        host.spot.mirror,
        floats=True,
    )
    return Member(thing, spot, CLASSES.index(name))
