"""Predictions of many files: which photos are meant, and what becomes of each."""

import glob
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.errors import RecallsegError
from recallseg.predict.photos import as_image
from recallseg.predict.writers import Writer
from recallseg.progress import tracked

if TYPE_CHECKING:
    from recallseg.predict.predictor import Predictor


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


def predict_files(predictor: "Predictor", paths: Sequence[Path], writer: Writer) -> list[str]:
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
    writer.finish()
    return failures
