"""What every format of predictions has: a model's classes, names for files, and a tolerance."""

import shutil
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from recallseg.data.rle import Hits
from recallseg.errors import RecallsegError
from recallseg.predict.prediction import ClassScore, Prediction
from recallseg.predict.writers.outlines import TOLERANCE

if TYPE_CHECKING:
    from recallseg.predict.predictor import Predictor


class FreeNames:
    """File names in a folder that no other result of this command has, and no photo of it."""

    def __init__(self, folder: Path, photos: Iterable[Path]) -> None:
        self.folder = folder
        self.taken = {key for photo in photos for key in (_key(photo), _key(photo.resolve()))}

    def inside(self, name: str) -> "FreeNames":
        """The names in a subfolder."""
        names = FreeNames(self.folder / name, [])
        names.taken = self.taken
        return names

    def take(self, stem: str, ending: str) -> Path:
        """`stem` with the ending, and with a number behind it if that is taken."""
        for number in count(1):
            path = self.folder / f"{stem}{f'-{number}' if number > 1 else ''}{ending}"
            if _key(path) not in self.taken:
                self.taken.add(_key(path))
                return path
        raise AssertionError("numbers do not end")


def _key(path: Path) -> str:
    """The same for two paths of one file, on disks that tell capitals apart and on others."""
    return str(path.parent.resolve() / path.name).casefold()


class Writer:
    """What becomes of predictions: a file for each, or one value for all."""

    title: str
    """What is written, in a few words."""
    value: dict[str, Any] | list[Any] | None = None
    """What is to be written when all photos are done, if there is such a thing."""

    def __init__(
        self, predictor: "Predictor", names: FreeNames, tolerance: float = TOLERANCE
    ) -> None:
        self.predictor, self.names, self.tolerance = predictor, names, tolerance

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Take the prediction of the photo at `path`."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what belongs to all photos together."""


def classes_seen(prediction: Prediction) -> Iterator[tuple[ClassScore, Hits]]:
    """Every class in a photo but the background, the largest first, with its pixels (H, W)."""
    for score in prediction.scores:
        if score.channel:
            yield score, prediction.mask == score.channel


def link_photo(photo: Path, target: Path) -> None:
    """Put a photo beside its labels: a symbolic link, or a copy where links are not allowed.

    A link that is there is replaced, but never a file.
    """
    if target.exists() and target.samefile(photo):
        return
    if target.exists() and not target.is_symlink():
        raise RecallsegError(
            f"{target} is another photo than {photo}; name another folder with --out."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        target.symlink_to(photo.resolve())
    except OSError:
        shutil.copyfile(photo, target)
