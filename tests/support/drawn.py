"""Tiny datasets drawn by the tests themselves."""

from pathlib import Path

import numpy as np
from PIL import Image

from recallseg.data.shrink import save_mask
from recallseg.data.voc import LISTS


def draw_pair(labels: list[int], size: tuple[int, int] = (24, 20), seed: int = 0):
    """A photo of coloured blocks on grey, and its mask: one block a label, with a void row."""
    rng = np.random.default_rng([seed, *labels])
    width, height = size
    mask = np.zeros((height, width), dtype=np.uint8)
    photo = rng.integers(100, 156, (height, width, 3)).astype(np.uint8)
    for place, label in enumerate(labels):
        left = place * width // len(labels)
        right = left + width // len(labels) - 1
        mask[4:-4, left:right] = label
        colour = np.random.default_rng(label).integers(0, 256, 3)
        photo[4:-4, left:right] = np.clip(colour + rng.integers(-20, 20, 3), 0, 255)
    mask[0] = 255
    return Image.fromarray(photo), mask


def write_voc(root: Path, splits: dict[str, dict[str, list[int]]], **draw) -> Path:
    """A dataset in VOC's layout from {split: {stem: labels}}."""
    for name in ("JPEGImages", "SegmentationClassAug", str(LISTS)):
        (root / name).mkdir(parents=True, exist_ok=True)
    for split, members in splits.items():
        for number, (stem, labels) in enumerate(members.items()):
            photo, mask = draw_pair(labels, seed=number, **draw)
            photo.save(root / "JPEGImages" / f"{stem}.jpg", quality=95)
            save_mask(root / "SegmentationClassAug" / f"{stem}.png", mask)
        (root / LISTS / f"{split}.txt").write_text("".join(f"{stem}\n" for stem in members))
    return root


def write_folder(root: Path, members: dict[str, list[int]], classes: list[str]) -> Path:
    """A dataset of images/, masks/ and classes.txt from {stem: labels}."""
    (root / "images").mkdir(parents=True)
    (root / "masks").mkdir()
    (root / "classes.txt").write_text("\n".join(classes) + "\n")
    for number, (stem, labels) in enumerate(members.items()):
        photo, mask = draw_pair(labels, seed=number)
        photo.save(root / "images" / f"{stem}.png")
        Image.fromarray(mask).save(root / "masks" / f"{stem}.png")
    return root


def whole_voc(root: Path) -> Path:
    """A sound VOC-layout dataset in which every class is seen."""
    train = {f"t{label:02}": [label, label % 20 + 1] for label in range(1, 21)}
    return write_voc(root, {"train_aug": train, "val": {"v01": [1], "v02": [5, 7]}})
