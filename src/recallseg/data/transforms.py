"""The paper's pre-processing (sec. 6): random scale, mirror, pad, crop.

Every random choice comes from a generator that the caller passes, so that a view of a photo is a
pure function of its seed, on any thread and after any restart.
"""

import recallseg.torchvision_guard  # noqa: F401

import math
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple

import numpy as np
import torch
from PIL import Image
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as F

from recallseg.data.dataset import Mask
from recallseg.labels import PADDING

Colour = tuple[int, int, int]

SIDE_RATIO = 4 / 3
"""The longer side of a stretched part of a photo, at most, as a multiple of the shorter."""
TRIES = 10
"""How often a part is drawn that may not fit into the photo, before the middle is taken."""


def photo_tensor(photo: Image.Image) -> torch.Tensor:
    """An RGB photo as the uint8 tensor (3, H, W) that encoders take."""
    return torch.from_numpy(np.array(photo)).permute(2, 0, 1)


def to_tensors(photo: Image.Image, mask: Mask) -> tuple[torch.Tensor, torch.Tensor]:
    """An RGB photo and its mask as uint8 tensors (3, H, W) and (H, W)."""
    return photo_tensor(photo), torch.from_numpy(mask)


class Part(NamedTuple):
    """A rectangle of a photo."""

    top: int
    left: int
    height: int
    width: int


def random_part(height: int, width: int, area: tuple[float, float], rng: Random) -> Part:
    """A part of a photo for a stretched view: its share of the area is drawn from `area`, its side
    ratio log-uniformly from 3:4 to 4:3.

    A part that does not fit into the photo is drawn again; after ten of them it is the largest
    part in the middle with an allowed ratio (MiB and SDR draw so, with areas from 0.5 to 2).
    """
    for _ in range(TRIES):
        pixels = rng.uniform(*area) * height * width
        ratio = math.exp(rng.uniform(-math.log(SIDE_RATIO), math.log(SIDE_RATIO)))
        wide, high = round(math.sqrt(pixels * ratio)), round(math.sqrt(pixels / ratio))
        if 0 < wide <= width and 0 < high <= height:
            return Part(rng.randint(0, height - high), rng.randint(0, width - wide), high, wide)
    high = min(height, round(width * SIDE_RATIO))
    wide = min(width, round(height * SIDE_RATIO))
    return Part((height - high) // 2, (width - wide) // 2, high, wide)


@dataclass(frozen=True)
class ViewRecipe:
    """How a training view is cut from a photo and its mask.

    As a `window`, the photo is scaled by U(low, high) and mirrored at random, and a `crop`×`crop`
    window is cut at a random position. A smaller photo is put at a random position in the window;
    the rest is filled with the `padding` colour, and with PADDING in the mask. A `stretched` view
    is a random part of the photo, brought to `crop`×`crop` and mirrored at random. Labels are read
    at the middle of their pixel in the unscaled mask: torchvision's `NEAREST` reads them at the
    pixel's corner, half a pixel beside the photo.
    """

    crop: int
    scale: tuple[float, float] = (0.5, 1.5)
    padding: Colour = (124, 116, 104)
    label_stride: int = 1
    """Labels are kept for one pixel out of n in each direction, the middle one; the loss is
    computed only there, which costs less."""
    cut: Literal["window", "stretched"] = "window"

    @property
    def label_size(self) -> int:
        """Height and width of a view's labels."""
        return len(range(self.crop)[self.label_rows])

    @property
    def label_rows(self) -> slice:
        """The rows, and equally columns, whose labels are kept."""
        return slice(self.label_stride // 2, None, self.label_stride)

    def __call__(
        self, photo: torch.Tensor, mask: torch.Tensor, rng: Random
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Cut one view, (3, crop, crop), and its labels from tensors of `to_tensors`."""
        way = self._window if self.cut == "window" else self._stretched
        view, labels = way(photo, mask, rng)
        return view, labels[self.label_rows, self.label_rows].contiguous()

    def _stretched(
        self, photo: torch.Tensor, mask: torch.Tensor, rng: Random
    ) -> tuple[torch.Tensor, torch.Tensor]:
        height, width = mask.shape[-2:]
        part = random_part(height, width, self.scale, rng)
        mirror = rng.random() < 0.5

        def cut(picture: torch.Tensor, way: InterpolationMode) -> torch.Tensor:
            side = [self.crop, self.crop]
            stretched: torch.Tensor = F.resize(F.crop(picture, *part), side, way, antialias=True)
            return F.horizontal_flip(stretched) if mirror else stretched

        labels = cut(mask[None], InterpolationMode.NEAREST_EXACT)[0]
        return cut(photo, InterpolationMode.BILINEAR), labels

    def _window(
        self, photo: torch.Tensor, mask: torch.Tensor, rng: Random
    ) -> tuple[torch.Tensor, torch.Tensor]:
        height, width = mask.shape[-2:]
        factor = rng.uniform(*self.scale)
        height, width = max(1, round(height * factor)), max(1, round(width * factor))
        mirror = rng.random() < 0.5
        top, left = self._offset(height, rng), self._offset(width, rng)
        window = [max(0, top), max(0, left), min(self.crop, height), min(self.crop, width)]
        before = [max(0, -left), max(0, -top)]
        after = [max(0, self.crop - width) - before[0], max(0, self.crop - height) - before[1]]

        def cut(part: torch.Tensor, way: InterpolationMode, fill: list[int] | int) -> torch.Tensor:
            part = F.resize(part, [height, width], way, antialias=True)
            part = F.horizontal_flip(part) if mirror else part
            padded: torch.Tensor = F.pad(F.crop(part, *window), [*before, *after], fill=fill)
            return padded

        view = cut(photo, InterpolationMode.BILINEAR, list(self.padding))
        return view, cut(mask[None], InterpolationMode.NEAREST_EXACT, PADDING)[0]

    def _offset(self, length: int, rng: Random) -> int:
        """The start of the window along one side; negative if the photo is smaller."""
        slack = length - self.crop
        return rng.randint(min(0, slack), max(0, slack))
