"""Using a learned model: photos in, predictions out."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from recallseg.data.dataset import decode_photo
from recallseg.data.shrink import resized
from recallseg.data.transforms import photo_tensor
from recallseg.errors import RecallsegError
from recallseg.model import Segmenter
from recallseg.model.cores import on_every_core
from recallseg.predict.opening import open_model
from recallseg.predict.prediction import Prediction, Tally, decide, predictions_of
from recallseg.predict.tiles import Span, windows
from recallseg.runs.folder import RunFolder

Photo = Image.Image | Path | str | npt.NDArray[np.uint8]
"""An image, the path of one, or its pixels: uint8, (H, W) grey or (H, W, 3) RGB."""

MAX_PIXELS = 178_000_000
"""The largest photo that is opened."""
TILE, MARGIN = 1024, 192
"""Larger photos are looked at in tiles of that side, which needs no padding at any stride; the
margin is how far a decoder with the usual dilations reaches."""
BATCH, AHEAD, AHEAD_PIXELS = 8, 64, 32_000_000
"""Photos of one size go through the model together, out of so many that are read ahead."""


class Predictor:
    """A model of a run folder, ready for photos of any size.

    A photo of up to `tile`² pixels is looked at as a whole, exactly as in the evaluation. A larger
    one is looked at in tiles, in memory that does not grow with it but for the photo and its mask.
    With `longer_side`, larger photos are shrunk to it first and their masks enlarged again: a
    model knows things at the size at which it learned them.
    """

    def __init__(
        self,
        model: Segmenter,
        class_names: Sequence[str],
        *,
        step: int = 0,
        tile: int = TILE,
        margin: int = MARGIN,
        longer_side: int | None = None,
        device: str | torch.device | None = None,
    ) -> None:
        self.device = default_device() if device is None else torch.device(device)
        self.model = model.to(self.device).eval().requires_grad_(False)
        self.class_names, self.step = tuple(class_names), step
        self.tile, self.margin, self.longer_side = tile, margin, longer_side

    @classmethod
    def open(
        cls,
        path: Path | str,
        step: int | None = None,
        *,
        longer_side: int | None = None,
        device: str | torch.device | None = None,
    ) -> "Predictor":
        """The model of a run folder after a step, by default its last complete one."""
        folder = RunFolder.existing(Path(path))
        model, index = open_model(folder, step)
        names = folder.class_names(index)
        return cls(model, names, step=index, longer_side=longer_side, device=device)

    def predict(self, photo: Photo) -> Prediction:
        """The segmentation of a photo, at the photo's size."""
        return next(self.predict_many([photo]))

    def predict_many(self, photos: Iterable[Photo]) -> Iterator[Prediction]:
        """The segmentations of many photos, in their order; those of one size share batches."""
        for window in self._read_ahead(photos):
            small = [shrunk(image, self.longer_side) for image in window]
            if self._is_large(small[0]):
                found = [self._in_tiles(small[0])]
            else:
                found = self._in_batches(small)
            for image, prediction in zip(window, found, strict=True):
                yield prediction.at_size(image.size)

    def _read_ahead(self, photos: Iterable[Photo]) -> Iterator[list[Image.Image]]:
        """Photos a few at a time, as many as memory affords; a large one is always alone."""
        window: list[Image.Image] = []
        pixels = 0
        for photo in photos:
            image = as_image(photo)
            size = image.width * image.height
            alone = self._is_large(image)
            if window and (alone or len(window) == AHEAD or pixels + size > AHEAD_PIXELS):
                yield window
                window, pixels = [], 0
            window.append(image)
            pixels += size
            if alone:
                yield window
                window, pixels = [], 0
        if window:
            yield window

    def _is_large(self, image: Image.Image) -> bool:
        return image.width * image.height > self.tile**2

    def _in_batches(self, images: Sequence[Image.Image]) -> list[Prediction]:
        by_size: dict[tuple[int, int], list[int]] = {}
        for place, image in enumerate(images):
            by_size.setdefault(image.size, []).append(place)
        batches = [
            places[start : start + BATCH]
            for places in by_size.values()
            for start in range(0, len(places), BATCH)
        ]

        def look(batch: Sequence[int]) -> list[Prediction]:
            pixels = torch.stack([photo_tensor(images[place]) for place in batch])
            return predictions_of(self.model(pixels.to(self.device)).logits, self.class_names)

        found: dict[int, Prediction] = {}
        for batch, predictions in zip(batches, on_every_core(look, batches), strict=True):
            found |= zip(batch, predictions, strict=True)
        return [found[place] for place in range(len(images))]

    def _in_tiles(self, image: Image.Image) -> Prediction:
        mask = np.empty((image.height, image.width), dtype=np.uint8)
        tally = Tally(self.class_names)
        stride = self.model.encoder.coarsest
        places = list(windows(image.height, image.width, self.tile, self.margin, stride))

        def look(place: tuple[Span, Span]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
            rows, columns = place
            part = image.crop((columns.start, rows.start, columns.stop, rows.stop))
            logits = self.model(photo_tensor(part)[None].to(self.device)).logits
            kept = logits[..., rows.kept_within, columns.kept_within]
            seen, probable = decide(kept)
            return seen[0].cpu().numpy(), probable[0].cpu().numpy()

        for (rows, columns), (seen, probable) in zip(
            places, on_every_core(look, places), strict=True
        ):
            mask[rows.kept, columns.kept] = seen
            tally.add(seen, probable)
        return Prediction(mask, self.class_names, tally.scores())


def default_device() -> torch.device:
    """A GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def as_image(photo: Photo) -> Image.Image:
    """A photo in RGB, read from disk where a path was given."""
    if isinstance(photo, Path | str):
        return decode_photo(Path(photo), f"The photo {photo}", max_pixels=MAX_PIXELS)
    if isinstance(photo, Image.Image):
        photo.load()
        return photo if photo.mode == "RGB" else photo.convert("RGB")
    grey_or_rgb = photo.ndim == 2 or (photo.ndim == 3 and photo.shape[2] == 3)
    if photo.dtype != np.uint8 or not grey_or_rgb or 0 in photo.shape:
        raise RecallsegError(
            f"This array is {photo.dtype} of shape {photo.shape}; a photo is uint8 and (H, W, 3) "
            "in RGB, or (H, W) in grey."
        )
    return Image.fromarray(photo).convert("RGB")


def shrunk(image: Image.Image, longer_side: int | None) -> Image.Image:
    """The photo with its longer side brought down to `longer_side`, if it is larger."""
    size = resized(image.size, longer_side or max(image.size))
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)
