"""A small copy of a dataset in VOC's layout, for machines too small for the whole."""

import random
from pathlib import Path

import numpy as np
from PIL import Image

from recallseg.data.dataset import Mask, Pair
from recallseg.data.palette import palette_image
from recallseg.data.voc import LISTS, listing, resolve_root
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path
from recallseg.progress import map_files


def shrink_dataset(
    root: Path, out: Path, *, longer_side: int, train: int, val: int, seed: int
) -> dict[str, int]:
    """Copy a random sample of pairs, resized; gives the number of pairs in each split.

    Photos are resampled by Lanczos' filter, masks by nearest neighbour, so that no label appears
    that was not there. `out` appears only when it is complete.
    """
    if out.exists():
        raise RecallsegError(f"{out} exists already; name a new folder.")
    root = resolve_root(root)
    sample = {
        split: _choose(root, split, count, seed)
        for split, count in (("train_aug", train), ("val", val))
    }
    with atomic_path(out) as target:
        for name in ("JPEGImages", "SegmentationClassAug", str(LISTS)):
            (target / name).mkdir(parents=True)
        for split, pairs in sample.items():
            map_files(lambda pair: _copy(pair, target, longer_side), pairs, f"Shrinking {split}")
            stems = "".join(f"{pair.stem}\n" for pair in pairs)
            (target / LISTS / f"{split}.txt").write_text(stems, encoding="utf-8")
    return {split: len(pairs) for split, pairs in sample.items()}


def _choose(root: Path, split: str, count: int, seed: int) -> list[Pair]:
    pairs = listing(root, split).pairs()
    if count > len(pairs):
        raise RecallsegError(f"'{split}' of {root} holds {len(pairs)} photos, not {count}.")
    rows = random.Random(f"{seed}/{split}").sample(range(len(pairs)), count)
    return [pairs[row] for row in sorted(rows)]


def resized(size: tuple[int, int], longer_side: int) -> tuple[int, int]:
    """`size` with its longer side shrunk to `longer_side`; never enlarged."""
    scale = min(1.0, longer_side / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _copy(pair: Pair, target: Path, longer_side: int) -> None:
    photo, mask = pair.read()
    size = resized(photo.size, longer_side)
    photo.resize(size, Image.Resampling.LANCZOS).save(
        target / "JPEGImages" / f"{pair.stem}.jpg", quality=95
    )
    small = Image.fromarray(mask).resize(size, Image.Resampling.NEAREST)
    save_mask(target / "SegmentationClassAug" / f"{pair.stem}.png", np.asarray(small))


def save_mask(path: Path, mask: Mask) -> None:
    """Write class ids as a palette PNG in VOC's colours."""
    palette_image(mask).save(path)
