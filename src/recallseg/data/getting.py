"""Pascal VOC 2012 with the SBD masks, and ADE20K, downloaded and put in place.

torchvision's downloaders fetch the archives; their MD5 sums are checked before they are unpacked.
"""

import shutil
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from recallseg.data.dataset import Mask
from recallseg.data.shrink import save_mask
from recallseg.data.voc import LISTS, read_list
from recallseg.errors import RecallsegError
from recallseg.files import write_text
from recallseg.progress import map_files, messages


class Archive(NamedTuple):
    """A file on the web that a dataset is made of."""

    url: str
    md5: str


ADE = Archive(
    "http://data.csail.mit.edu/places/ADEchallenge/ADEChallengeData2016.zip",
    "7328b3957e407ddae1d3cbf487f149ef",
)
AUGMENTED = "SegmentationClassAug"


def get_voc(out: Path) -> Path:
    """VOC 2012 with the masks of SBD as `SegmentationClassAug/` and `train_aug.txt`; its folder."""
    import recallseg.torchvision_guard  # noqa: F401

    from torchvision.datasets import SBDataset
    from torchvision.datasets.voc import DATASET_YEAR_DICT

    _require_scipy()
    _check_new(out, "VOCdevkit/VOC2012/ImageSets/Segmentation/train_aug.txt")
    about = DATASET_YEAR_DICT["2012"]
    _fetch(Archive(about["url"], about["md5"]), out)
    _fetch(Archive(SBDataset.url, SBDataset.md5), out)
    root: Path = out / about["base_dir"]
    masks = root / AUGMENTED
    masks.mkdir(exist_ok=True)
    contours = out / "benchmark_RELEASE" / "dataset"
    map_files(
        lambda path: save_mask(masks / f"{path.stem}.png", _sbd_mask(path)),
        sorted((contours / "cls").glob("*.mat")),
        "Converting SBD's masks",
    )
    for path in (root / "SegmentationClass").glob("*.png"):  # VOC's own are finer
        shutil.copyfile(path, masks / path.name)
    listed = {stem for name in ("train", "val") for stem in _stems(contours / f"{name}.txt")}
    augmented = (listed | set(read_list(root, "train"))) - set(read_list(root, "val"))
    write_text(root / LISTS / "train_aug.txt", "".join(f"{stem}\n" for stem in sorted(augmented)))
    shutil.rmtree(out / "benchmark_RELEASE")
    _remove_archives(out)
    return root


def get_ade(out: Path) -> Path:
    """ADE20K's scene parsing set; its folder."""
    _check_new(out, "annotations")
    _fetch(ADE, out)
    inside = out / "ADEChallengeData2016"
    for path in inside.iterdir():
        shutil.move(path, out / path.name)
    inside.rmdir()
    _remove_archives(out)
    return out


GETTERS: dict[str, Callable[[Path], Path]] = {"voc": get_voc, "ade": get_ade}
"""Datasets that can be downloaded, by name."""


def _check_new(out: Path, last: str) -> None:
    """Refuse a folder that has what comes last already; an unfinished one is gone on with."""
    if (out / last).exists():
        raise RecallsegError(f"{out} holds the dataset already; name a new folder with --out.")


def _fetch(archive: Archive, out: Path) -> None:
    """Download an archive, unless it is there already, and unpack it."""
    import recallseg.torchvision_guard  # noqa: F401

    from torchvision.datasets.utils import download_and_extract_archive

    messages().print(f"{archive.url} → {out}", highlight=False, markup=False, soft_wrap=True)
    with _sentences(archive.url):
        download_and_extract_archive(archive.url, out, md5=archive.md5)


def _remove_archives(out: Path) -> None:
    for path in out.iterdir():
        if path.suffix in (".tar", ".tgz", ".zip"):
            path.unlink()


@contextmanager
def _sentences(url: str) -> Iterator[None]:
    again = "run the command again, or download it with a browser into the same folder"
    try:
        yield
    except urllib.error.URLError as error:
        raise RecallsegError(f"{url} could not be reached ({error.reason}); {again}.") from error
    except RuntimeError as error:  # torchvision's word for a wrong sum
        raise RecallsegError(f"{url} came damaged: its MD5 sum is another; {again}.") from error
    except OSError as error:
        raise RecallsegError(f"{url} could not be unpacked ({error}); make room for it.") from error


def _require_scipy() -> None:
    try:
        import scipy.io  # noqa: F401
    except ImportError as error:
        raise RecallsegError("SBD's masks need scipy: pip install 'recallseg[data]'.") from error


def _sbd_mask(path: Path) -> Mask:
    from scipy.io import loadmat

    mask: Mask = loadmat(path, variable_names=["GTcls"])["GTcls"][0]["Segmentation"][0]
    return mask


def _stems(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split()
