"""ADE20K's scene parsing set: 150 classes, and label 0 for everything else."""

from pathlib import Path

from recallseg.data.dataset import Listing
from recallseg.errors import RecallsegError

_NAMES = """
wall, building, sky, floor, tree, ceiling, road, bed, windowpane, grass, cabinet, sidewalk, person,
earth, door, table, mountain, plant, curtain, chair, car, water, painting, sofa, shelf, house, sea,
mirror, rug, field, armchair, seat, fence, desk, rock, wardrobe, lamp, bathtub, railing, cushion,
base, box, column, signboard, chest of drawers, counter, sand, sink, skyscraper, fireplace,
refrigerator, grandstand, path, stairs, runway, case, pool table, pillow, screen door, stairway,
river, bridge, bookcase, blind, coffee table, toilet, flower, book, hill, bench, countertop, stove,
palm, kitchen island, computer, swivel chair, boat, bar, arcade machine, hovel, bus, towel, light,
truck, tower, chandelier, awning, streetlight, booth, television receiver, airplane, dirt track,
apparel, pole, land, bannister, escalator, ottoman, bottle, buffet, poster, stage, van, ship,
fountain, conveyer belt, canopy, washer, plaything, swimming pool, stool, barrel, basket, waterfall,
tent, bag, minibike, cradle, oven, ball, food, step, tank, trade name, microwave, pot, animal,
bicycle, lake, dishwasher, screen, blanket, sculpture, hood, sconce, vase, traffic light, tray,
ashcan, fan, pier, crt screen, plate, monitor, bulletin board, shower, radiator, glass, clock, flag
"""

CLASSES = ("other", *(name.strip() for name in _NAMES.split(",")))


def listing(root: Path, split: str) -> Listing:
    """The photos of `images/split` and the masks of `annotations/split`, by stem."""
    photos, masks = root / "images" / split, root / "annotations" / split
    for folder in (photos, masks):
        if not folder.is_dir():
            raise RecallsegError(f"{root} is not in the layout of ADE20K: it has no {folder}/.")
    photo_of = {path.stem: path for path in photos.glob("*.jpg")}
    mask_of = {path.stem: path for path in masks.glob("*.png")}
    return Listing(tuple(sorted(photo_of.keys() | mask_of.keys())), photo_of, mask_of)
