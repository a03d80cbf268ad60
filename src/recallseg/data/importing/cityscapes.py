"""Cityscapes: `leftImg8bit/SPLIT/CITY/…` with the label ids of `gtFine/` or `gtCoarse/`.

The 19 classes that its benchmark evaluates are kept; all other labels become void.
"""

from pathlib import Path

from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.mask_files import MaskImage, ValueNames, mask_size
from recallseg.data.importing.reading import split_in
from recallseg.data.importing.scenes import Findings, Scene, Skips
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError
from recallseg.labels import VOID

CLASSES = {
    **{7: "road", 8: "sidewalk", 11: "building", 12: "wall", 13: "fence", 17: "pole"},
    **{19: "traffic light", 20: "traffic sign", 21: "vegetation", 22: "terrain", 23: "sky"},
    **{24: "person", 25: "rider", 26: "car", 27: "truck", 28: "bus", 31: "train"},
    **{32: "motorcycle", 33: "bicycle"},
}
"""The evaluated classes by their label ids; in the order of their training ids."""
LABELS = 34
ENDINGS = ("labelIds.png", "labelTrainIds.png")
NAMES = {
    "labelIds.png": dict.fromkeys((*range(LABELS), VOID), "void") | CLASSES,
    "labelTrainIds.png": dict(enumerate(CLASSES.values())) | {VOID: "void"},
}


def _masks(source: SourceFolder) -> list[Path]:
    """The label ids of every photo; its training ids only where there are no others."""
    for ending in ENDINGS:
        if paths := [path for path in source.ending(ending.lower()) if "_gt" in path.name]:
            return paths
    return []


def read(source: SourceFolder) -> Findings:
    """All photos with label ids but those of the test split, whose labels are not public."""
    masks, skips = _masks(source), Skips()
    if not masks:
        raise RecallsegError(f"{source.root} holds no file that ends in _{' or _'.join(ENDINGS)}.")
    scenes = []
    for mask in masks:
        stem, split = mask.name.split("_gt")[0], split_in(*reversed(mask.parts[:-1]))
        if split == "test":
            skips.add("photo", "is of the test split, which has no labels", mask)
            continue
        photo = source.find_photo(f"{stem}_leftImg8bit.png", mask.parent, split)
        if photo is None:
            skips.add("mask", "has no photo", mask)
            continue
        ending = next(ending for ending in ENDINGS if mask.name.endswith(ending))
        labels = MaskImage(mask, ValueNames(NAMES[ending]))
        scenes.append(Scene(photo, labels, split, mask_size(mask), name=stem))
    return Findings(list(CLASSES.values()), scenes, skips)


FORMAT = ImportFormat(title="Cityscapes", recognise=lambda source: bool(_masks(source)), read=read)
