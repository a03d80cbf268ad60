"""Photos and the images that are their masks, found by the names of their folders and files."""

import re
from pathlib import Path

from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.data.importing.reading import read_text, split_in
from recallseg.data.importing.scenes import Skips
from recallseg.data.importing.source_folder import SourceFolder

PHOTO_FOLDERS = ("images", "image", "imgs", "img", "photos", "photo", "jpegimages")
MASK_FOLDERS = (
    *("masks", "mask", "annotations", "annotation", "labels", "label", "gt", "groundtruth"),
    *("ground_truth", "segmentation", "segmentations", "segmentationclass"),
    *("segmentationclassaug", "segmentationclasspng", "seg"),
)
MASK_ENDING = re.compile(r"[-_ ](mask|masks|seg|segmentation|label|labels|gt)$", re.IGNORECASE)
MASK_IMAGES = (*PHOTO_ENDINGS, ".gif")
Key = tuple[str, ...]


def find_pairs(source: SourceFolder, skips: Skips) -> list[tuple[Path, Path]]:
    """Photos with their masks: `images/train/a.jpg` and `masks/train/a_mask.png`, for example.

    They have the same path but for the folder that says which is which; if there is only one mask
    of a photo's name, it is taken wherever it is.
    """
    photos, masks = _sorted_out(source)
    by_stem: dict[str, list[Path]] = {}
    for key, mask in masks.items():
        by_stem.setdefault(key[-1], []).append(mask)
    pairs, used = [], set()
    for key, photo in photos.items():
        alone = by_stem.get(key[-1], [])
        own = masks.get(key) or (alone[0] if len(alone) == 1 else None)
        if own is None:
            skips.add("photo", "has no mask", photo)
        else:
            pairs.append((photo, own))
            used.add(own)
    for mask in masks.values():
        if mask not in used:
            skips.add("mask", "has no photo", mask)
    return pairs


def has_pairs(source: SourceFolder) -> bool:
    """Whether there are folders of photos and of masks."""
    photos, masks = _sorted_out(source)
    return bool(photos and masks)


def _sorted_out(source: SourceFolder) -> tuple[dict[Key, Path], dict[Key, Path]]:
    """Photos and masks by what their paths have in common."""
    photos: dict[Key, Path] = {}
    masks: dict[Key, Path] = {}
    for path in source.ending(*MASK_IMAGES):
        folders = [part.lower() for part in path.relative_to(source.root).parts[:-1]]
        if any(folder in MASK_FOLDERS for folder in folders):
            stem = MASK_ENDING.sub("", path.stem)
            masks[(*(f for f in folders if f not in MASK_FOLDERS), stem)] = path
        elif any(folder in PHOTO_FOLDERS for folder in folders):
            photos[(*(f for f in folders if f not in PHOTO_FOLDERS), path.stem)] = path
    return photos, masks


class SplitLists:
    """Which split a photo is in: by lists of names if there are any, else by its folders."""

    def __init__(self, source: SourceFolder, folder: Path) -> None:
        self.root = source.root
        self.split_of: dict[str, str] = {}
        for path in sorted(folder.glob("*.txt"), key=lambda path: path.stem == "val"):
            split = split_in(path.stem)
            if split and path.stem != "trainval":
                for line in filter(str.strip, read_text(path).splitlines()):
                    self.split_of[Path(line.split()[0]).stem] = split

    def find(self, photo: Path) -> str | None:
        """The split of a photo, if there is any."""
        if self.split_of:
            return self.split_of.get(photo.stem)
        return split_in(*reversed(photo.relative_to(self.root).parts[:-1]))
