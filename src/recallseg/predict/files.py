"""Predictions of many files: which photos are meant, and where the results go."""

import glob
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from PIL import Image

from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.errors import RecallsegError
from recallseg.predict.formats import coco_annotations, save_overlay, save_png
from recallseg.predict.photos import as_image
from recallseg.predict.prediction import Prediction
from recallseg.predict.predictor import Predictor
from recallseg.progress import tracked


def find_photos(words: Sequence[str]) -> list[Path]:
    """The photos that files, folders and patterns such as `a/**/*.jpg` name, each of them once."""
    paths: dict[Path, Path] = {}
    for word in words:
        for path in _meant_by(word):
            paths.setdefault(path.resolve(), path)
    return list(paths.values())


def _meant_by(word: str) -> list[Path]:
    path = Path(word).expanduser()
    if path.is_dir():
        inside = [each for each in sorted(path.iterdir()) if each.suffix.lower() in PHOTO_ENDINGS]
        if not inside:
            raise RecallsegError(f"{path} holds no photo that ends in {', '.join(PHOTO_ENDINGS)}.")
        return inside
    if not path.exists() and glob.has_magic(word):
        matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207
        if not matches:
            raise RecallsegError(f"No file matches {word}.")
        return [Path(match) for match in matches if Path(match).is_file()]
    return [path]


class FreeNames:
    """File names in a folder that no other result of this command has, and no photo of it."""

    def __init__(self, folder: Path, photos: Iterable[Path]) -> None:
        self.folder = folder
        self.taken = {str(photo.resolve()).casefold() for photo in photos}

    def take(self, stem: str, ending: str) -> Path:
        """`stem` with the ending, and with a number behind it if that is taken."""
        for number in count(1):
            path = self.folder / f"{stem}{f'-{number}' if number > 1 else ''}{ending}"
            key = str(path.resolve()).casefold()
            if key not in self.taken:
                self.taken.add(key)
                return path
        raise AssertionError("numbers do not end")


class Writer:
    """What becomes of predictions: a file for each, or one value for all."""

    value: dict[str, Any] | None = None
    """What is to be written when all photos are done, if there is such a thing."""

    def __init__(self, predictor: Predictor, names: FreeNames) -> None:
        self.predictor, self.names = predictor, names

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Take the prediction of the photo at `path`."""
        raise NotImplementedError


class PngWriter(Writer):
    """A palette PNG for each photo."""

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Write the mask."""
        save_png(self.names.take(path.stem, ".png"), prediction)


class OverlayWriter(Writer):
    """The photo with its classes laid over it, for each photo."""

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Write the overlay."""
        save_overlay(self.names.take(f"{path.stem}-overlay", ".jpg"), photo, prediction)


class CocoWriter(Writer):
    """One COCO dataset of all photos."""

    value: dict[str, Any]

    def __init__(self, predictor: Predictor, names: FreeNames) -> None:
        super().__init__(predictor, names)
        channels = enumerate(predictor.class_names)
        categories = [{"id": channel, "name": name} for channel, name in channels if channel > 0]
        self.value = {"images": [], "annotations": [], "categories": categories}

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Remember the photo's annotations."""
        images, annotations = self.value["images"], self.value["annotations"]
        size = {"width": photo.width, "height": photo.height}
        images.append({"id": len(images) + 1, "file_name": str(path), **size})
        for annotation in coco_annotations(prediction):
            ids = {"id": len(annotations) + 1, "image_id": len(images)}
            annotations.append(ids | annotation)


class SummaryWriter(Writer):
    """The classes of all photos with their shares, without masks."""

    value: dict[str, Any]

    def __init__(self, predictor: Predictor, names: FreeNames) -> None:
        super().__init__(predictor, names)
        about = {"step": predictor.step, "class_names": list(predictor.class_names)}
        self.value = about | {"photos": []}

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Remember the photo's scores."""
        self.value["photos"].append({"file": str(path), **prediction.summary()})


FORMATS: dict[str, type[Writer]] = {
    "png": PngWriter,
    "overlay": OverlayWriter,
    "coco": CocoWriter,
    "json": SummaryWriter,
}


def predict_files(predictor: Predictor, paths: Sequence[Path], writer: Writer) -> list[str]:
    """Give the prediction of every photo to `writer`; a sentence for each that cannot be read."""
    failures: list[str] = []
    waiting: deque[tuple[Path, Image.Image]] = deque()

    def readable() -> Iterator[Image.Image]:
        for path in paths:
            try:
                image = as_image(path)
            except RecallsegError as error:
                failures.append(str(error))
            else:
                waiting.append((path, image))
                yield image

    for prediction in tracked(predictor.predict_many(readable()), "Segmenting", len(paths)):
        writer.add(*waiting.popleft(), prediction)
    return failures
