"""Your own data: `images/`, `masks/` and `classes.txt`.

`classes.txt` has one class name per line, in the order of their ids. Id 0 is the background; a
file that does not start with `background` counts from 1. `train.txt` and `val.txt` may list stems;
without them every photo is for training.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from recallseg.data.dataset import Listing
from recallseg.data.heic import HEIC_ENDINGS
from recallseg.errors import RecallsegError
from recallseg.files import check_name, read_text
from recallseg.labels import check_class_count

UNFIT = re.compile(r"^\W|[/\\\x00-\x1f\x7f]")
"""What a class name must not look like: it becomes the name of a folder."""
PHOTO_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", *HEIC_ENDINGS)


def read_classes(root: Path) -> tuple[str, ...]:
    """The class names by id, background first."""
    path = root / "classes.txt"
    if not path.is_file():
        raise RecallsegError(
            f"{path} is missing; write one class name per line into it, or make a folder of a "
            "dataset of another kind with `recallseg data import`."
        )
    names = [line.strip() for line in read_text(path).splitlines()]
    names = [name for name in names if name]
    if not names or names[0].lower() != "background":
        names.insert(0, "background")
    check_class_names(names, path)
    return tuple(names)


def check_class_names(names: Sequence[str], where: object) -> None:
    """Refuse names, background first, that are doubled, too many, or no names of folders."""
    unfit = [name for name in names if UNFIT.search(name)]
    if unfit:
        raise RecallsegError(
            f"{where} names a class {unfit[0]!r}; names begin with a letter or digit and hold no "
            "slashes or control characters."
        )
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise RecallsegError(f"{where} names a class twice: {', '.join(doubled)}.")
    if len(names) < 2:
        raise RecallsegError(f"{where} names no class; write one class name per line into it.")
    check_class_count(len(names) - 1, where)


def has_pairs(root: Path) -> bool:
    """Whether at least one photo in `images/` has a mask in `masks/`, as this layout wants it."""
    if not ((root / "images").is_dir() and (root / "masks").is_dir()):
        return False
    photos = {path.stem for path in _files(root / "images", PHOTO_ENDINGS)}
    return any(path.stem in photos for path in _files(root / "masks", (".png",)))


def splits(root: Path) -> tuple[str, ...]:
    """`train`, and `val` where it is listed."""
    return ("train", "val") if (root / "val.txt").is_file() else ("train",)


def listing(root: Path, split: str) -> Listing:
    """The photos and masks of a split: those in its list, or without lists all of them."""
    photos = _by_stem(root / "images", PHOTO_ENDINGS)
    masks = _by_stem(root / "masks", (".png",))
    if (path := root / f"{split}.txt").is_file():
        stems = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    elif split == "train":
        stems = sorted(photos.keys() | masks.keys())
        if "val" in splits(root):
            val_stems = set(listing(root, "val").stems)
            stems = [stem for stem in stems if stem not in val_stems]
    else:
        raise RecallsegError(f"{root} has no split '{split}'; it has {', '.join(splits(root))}.")
    return Listing(tuple(stems), photos, masks)


def _by_stem(folder: Path, endings: tuple[str, ...]) -> dict[str, Path]:
    if not folder.is_dir():
        raise RecallsegError(
            f"{folder} is missing; it must hold one file per photo. `recallseg data import` makes "
            "such folders of datasets of other kinds."
        )
    paths: dict[str, Path] = {}
    for path in _files(folder, endings):
        check_name(path)
        if path.stem in paths:
            raise RecallsegError(f"{path} and {paths[path.stem]} have the same stem.")
        paths[path.stem] = path
    return paths


def _files(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.suffix.lower() in endings]
