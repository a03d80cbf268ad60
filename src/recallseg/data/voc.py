"""Pascal VOC 2012 with the SBD augmentation, and any dataset in the same layout."""

from pathlib import Path

from recallseg.data.dataset import Listing
from recallseg.errors import RecallsegError
from recallseg.files import read_text

CLASSES = (
    "background",
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa"),
    *("train", "tvmonitor"),
)

LISTS = Path("ImageSets/Segmentation")


def resolve_root(root: Path) -> Path:
    """The folder with the lists: `root` itself, or the usual one below it."""
    for folder in (root, root / "VOC2012", root / "VOCdevkit" / "VOC2012"):
        if (folder / LISTS).is_dir():
            return folder
    raise RecallsegError(f"{root} is not in the layout of VOC 2012: it has no {LISTS}/.")


def splits(root: Path) -> tuple[str, ...]:
    """The names of the lists at `root`: `train_aug`, `val`, and `train` (the original 1,464)."""
    return tuple(sorted(path.stem for path in (root / LISTS).glob("*.txt")))


def mask_folder(root: Path) -> Path:
    """Where the masks are; the augmented folder holds those of the original set too."""
    augmented = root / "SegmentationClassAug"
    return augmented if augmented.is_dir() else root / "SegmentationClass"


def read_list(root: Path, split: str) -> tuple[str, ...]:
    """The stems in a list. A line is a stem, or a photo path followed by a mask path."""
    path = root / LISTS / f"{split}.txt"
    if not path.is_file():
        raise RecallsegError(f"{root} has no split '{split}'; it has {', '.join(splits(root))}.")
    lines = read_text(path).splitlines()
    return tuple(Path(line.split()[0]).stem for line in lines if line.strip())


def listing(root: Path, split: str) -> Listing:
    """The photos and masks named by a list."""
    stems = read_list(root, split)
    return Listing(
        stems,
        {path.stem: path for path in (root / "JPEGImages").glob("*.jpg")},
        {path.stem: path for path in mask_folder(root).glob("*.png")},
    )
