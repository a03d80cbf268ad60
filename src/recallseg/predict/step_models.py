"""The one way to look at photos: encode once, decode with the decoder of each wanted step."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from recallseg.data.dataset import Mask
from recallseg.data.transforms import photo_tensor
from recallseg.data.working_size import at_working_size, working_size
from recallseg.errors import RecallsegError
from recallseg.model import Encoder, Segmenter
from recallseg.model.cores import on_every_core
from recallseg.predict.deciding import CoarseLook, decide, predictions_of
from recallseg.predict.photos import Photo, as_image, shrunk
from recallseg.predict.placements import steady
from recallseg.predict.prediction import Prediction, Tally
from recallseg.predict.tiles import Span, windows

TILE, MARGIN = 1024, 192
"""Larger photos are looked at in tiles of that side, which needs no padding at any stride; the
margin is how far a decoder with the usual dilations reaches."""
BATCH, AHEAD, AHEAD_PIXELS = 8, 64, 32_000_000
"""Photos of one size go through the model together, out of so many that are read ahead."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Seen(Mapping[int, Prediction]):
    """What some steps see in one photo; a mask is brought to the photo's size when it is taken."""

    size: tuple[int, int]
    """Width and height of the photo."""
    looked_at: Mapping[int, Prediction | CoarseLook]
    """By step, at the size that the models looked at."""

    def __getitem__(self, step: int) -> Prediction:
        return self.looked_at[step].at_size(self.size)

    def __iter__(self) -> Iterator[int]:
        return iter(self.looked_at)

    def __len__(self) -> int:
        return len(self.looked_at)


class StepModels:
    """The models of a run after some of its steps, ready for photos of any size.

    With a `working_side`, the size at which the models learned, every photo is brought to it, and
    what is seen there is decided at the photo's own pixels, exactly as in the evaluation. Models
    that learned from photos as they were look so at photos of up to `tile`² pixels; larger ones
    they look at in tiles, in memory that does not grow with them but for the photo and its masks.
    With `longer_side`, larger photos are shrunk to it first and their masks enlarged again. With
    `placements`, what is seen is the mean over so many places of the photo. Steps that share an
    encoder share what it makes of a photo or of a tile.
    """

    def __init__(
        self,
        models: Mapping[int, Segmenter],
        class_names: Mapping[int, Sequence[str]],
        *,
        tile: int = TILE,
        margin: int = MARGIN,
        longer_side: int | None = None,
        working_side: int | None = None,
        placements: int = 1,
        device: str | torch.device | None = None,
    ) -> None:
        self.device = default_device() if device is None else torch.device(device)
        self.by_step = {
            step: model.to(self.device).eval().requires_grad_(False)
            for step, model in models.items()
        }
        self.class_names = {step: tuple(class_names[step]) for step in self.by_step}
        self.tile, self.margin, self.longer_side = tile, margin, longer_side
        self.working_side = working_side and min(working_side, longer_side or working_side)
        self.placements = placements

    def look(
        self,
        photos: Iterable[Photo],
        steps: Sequence[int] | None = None,
        still_wanted: Callable[[], None] = lambda: None,
    ) -> Iterator[Seen]:
        """What some steps see in photos, in the photos' order; all steps by default.

        Photos of one size share batches. Before each decoding of a batch or a tile `still_wanted`
        is called, which may raise to end the work.
        """
        chosen = list(self.by_step) if steps is None else list(steps)
        if unknown := [step for step in chosen if step not in self.by_step]:
            raise RecallsegError(
                f"The model has no step {unknown[0]}; it has {', '.join(map(str, self.by_step))}."
            )
        return self._look(photos, Glance(self, chosen, still_wanted))

    def _look(self, photos: Iterable[Photo], glance: "Glance") -> Iterator[Seen]:
        for window in self._read_ahead(photos):
            small = [self._small(image) for image in window]
            looked_at: Sequence[Mapping[int, Prediction | CoarseLook]]
            if self._is_large(small[0].size):
                looked_at = [glance.in_tiles(small[0])]
            else:
                looked_at = glance.in_batches(small)
            for image, predictions in zip(window, looked_at, strict=True):
                yield Seen(image.size, predictions)

    def _read_ahead(self, photos: Iterable[Photo]) -> Iterator[list[Image.Image]]:
        """Photos a few at a time, as many as memory affords; a large one is always alone."""
        window: list[Image.Image] = []
        pixels = 0
        for photo in photos:
            image = as_image(photo)
            size = image.width * image.height
            looked_at = working_size(image.size, self.working_side)
            alone = self._is_large(image.size) or self._is_large(looked_at)
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

    def _small(self, image: Image.Image) -> Image.Image:
        """A photo as the models look at it."""
        if self.working_side is not None:
            return at_working_size(image, self.working_side)
        return shrunk(image, self.longer_side)

    def _is_large(self, size: tuple[int, int]) -> bool:
        return size[0] * size[1] > self.tile**2


@dataclass(frozen=True)
class Glance:
    """One look of some steps' models at photos, none of which is shrunk or enlarged here."""

    models: StepModels
    steps: list[int]
    still_wanted: Callable[[], None]

    def in_batches(self, images: Sequence[Image.Image]) -> list[dict[int, Prediction | CoarseLook]]:
        """What is seen in small photos, those of one size together."""
        by_size: dict[tuple[int, int], list[int]] = {}
        for row, image in enumerate(images):
            by_size.setdefault(image.size, []).append(row)
        batches = [
            rows[start : start + BATCH]
            for rows in by_size.values()
            for start in range(0, len(rows), BATCH)
        ]

        def look(batch: Sequence[int]) -> dict[int, Sequence[Prediction | CoarseLook]]:
            pixels = torch.stack([photo_tensor(images[row]) for row in batch])
            names = self.models.class_names
            if self.models.working_side is not None:
                return dict(self._coarse(pixels))
            return {step: predictions_of(each, names[step]) for step, each in self._logits(pixels)}

        by_row: list[dict[int, Prediction | CoarseLook]] = [{} for _ in images]
        for batch, by_step in zip(batches, _each(look, batches), strict=True):
            for step, predictions in by_step.items():
                for row, prediction in zip(batch, predictions, strict=True):
                    by_row[row][step] = prediction
        return by_row

    def in_tiles(self, image: Image.Image) -> dict[int, Prediction]:
        """The predictions of a large photo, put together from tiles that are encoded once each."""
        models, names = self.models, self.models.class_names
        stride = max(models.by_step[step].encoder.coarsest for step in self.steps)
        tiles = list(windows(image.height, image.width, models.tile, models.margin, stride))
        masks = {step: np.empty((image.height, image.width), dtype=np.uint8) for step in self.steps}
        tallies = {step: Tally(names[step]) for step in self.steps}

        def look(tile: tuple[Span, Span]) -> dict[int, tuple[Mask, Tally]]:
            rows, columns = tile
            part = image.crop((columns.start, rows.start, columns.stop, rows.stop))
            return {
                step: _decided(logits[..., rows.kept_within, columns.kept_within], names[step])
                for step, logits in self._logits(photo_tensor(part)[None])
            }

        for (rows, columns), by_step in zip(tiles, _each(look, tiles), strict=True):
            for step, (mask, tally) in by_step.items():
                masks[step][rows.kept, columns.kept] = mask
                tallies[step].join(tally)
        return {
            step: Prediction(masks[step], names[step], tallies[step].scores())
            for step in self.steps
        }

    def _logits(self, pixels: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Each step's logits (B, C, H, W) of photos (B, 3, H, W)."""
        size, places = (pixels.shape[-2], pixels.shape[-1]), self.models.placements
        if places > 1:
            for step in self.steps:
                self.still_wanted()
                yield step, steady(self.models.by_step[step], pixels, places)
            return
        for step, model, features in self._encoded(pixels):
            yield step, model(features=features, size=size).logits

    def _coarse(self, pixels: Tensor) -> Iterator[tuple[int, list[CoarseLook]]]:
        """What each step says of photos (B, 3, H, W), to be decided at their own sizes later."""
        size = (pixels.shape[-2], pixels.shape[-1])
        if self.models.placements > 1:
            for step, logits in self._logits(pixels):
                names = self.models.class_names[step]
                yield step, [CoarseLook(each[None], 1, size, names) for each in logits]
            return
        for step, model, features in self._encoded(pixels):
            names, stride = self.models.class_names[step], model.encoder.stride
            maps = model.decoder(features)
            yield step, [CoarseLook(each[None], stride, size, names) for each in maps]

    def _encoded(self, pixels: Tensor) -> Iterator[tuple[int, Segmenter, Tensor]]:
        """Each step's model with the features of photos (B, 3, H, W), which are encoded once."""
        pixels = pixels.to(self.models.device)
        encoded: tuple[Encoder, Tensor] | None = None
        for step in self.steps:
            self.still_wanted()
            model = self.models.by_step[step]
            if encoded is None or encoded[0] is not model.encoder:
                encoded = model.encoder, model.encoder(pixels)
            yield step, model, encoded[1]


def default_device() -> torch.device:
    """A GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _decided(logits: Tensor, class_names: Sequence[str]) -> tuple[Mask, Tally]:
    """The mask (H, W) of the logits (1, C, H, W) of a tile, and how often each class is in it."""
    [mask], [probable] = (part.cpu().numpy() for part in decide(logits))
    tally = Tally(class_names)
    tally.add(mask, probable)
    return mask, tally


def _each(look: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Every core takes an item at a time; a single item gets all of them."""
    if len(items) > 1:
        return on_every_core(look, items)
    return map(torch.no_grad()(look), items)
