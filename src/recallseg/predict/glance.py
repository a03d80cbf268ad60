"""One look at photos that are as small as they will be: in batches, or in tiles of a large one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from recallseg.data.dataset import Mask
from recallseg.data.transforms import photo_tensor
from recallseg.model import Encoder, Segmenter
from recallseg.model.cores import on_every_core
from recallseg.predict.deciding import CoarseLook, decide, predictions_of
from recallseg.predict.placements import steady
from recallseg.predict.prediction import Prediction, Tally
from recallseg.predict.tiles import Span, windows

if TYPE_CHECKING:
    from recallseg.predict.step_models import StepModels

BATCH = 8
"""Photos of one size that go through the model together."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Glance:
    """One look of some steps' models at photos, none of which is shrunk or enlarged here."""

    models: "StepModels"
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
