"""The one way to look at photos: encode once, decode with the decoder of each wanted step."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from PIL import Image

from recallseg.data.working_size import at_working_size, working_size
from recallseg.errors import RecallsegError
from recallseg.model import Segmenter
from recallseg.predict.deciding import CoarseLook
from recallseg.predict.glance import Glance
from recallseg.predict.photos import Photo, as_image, shrunk
from recallseg.predict.prediction import Prediction

TILE, MARGIN = 1024, 192
"""Larger photos are looked at in tiles of that side, which needs no padding at any stride; the
margin is how far a decoder with the usual dilations reaches."""
AHEAD, AHEAD_PIXELS = 64, 32_000_000
"""So many photos are read ahead, and those of one size go through the model together."""


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

    def _look(self, photos: Iterable[Photo], glance: Glance) -> Iterator[Seen]:
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


def default_device() -> torch.device:
    """A GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
