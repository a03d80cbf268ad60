"""What a model sees in a photo."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from recallseg.data.dataset import Mask


@dataclass(frozen=True)
class ClassScore:
    """How much of a photo shows a class, and how sure the model is there."""

    name: str
    channel: int
    share: float
    """The part of the photo's area, in [0, 1]."""
    confidence: float
    """The mean probability of the class over the pixels that it was given."""


@dataclass(frozen=True)
class Prediction:
    """The segmentation of one photo."""

    mask: Mask
    """(H, W): for each pixel a place in `class_names`."""
    class_names: tuple[str, ...]
    """What the model's channels mean; the background is channel 0."""
    scores: tuple[ClassScore, ...]
    """The classes that are seen, the largest first."""

    def summary(self) -> dict[str, Any]:
        """The scores as JSON values."""
        return {
            "width": self.mask.shape[1],
            "height": self.mask.shape[0],
            "classes": [
                {
                    "name": score.name,
                    "channel": score.channel,
                    "share": round(score.share, 5),
                    "confidence": round(score.confidence, 4),
                }
                for score in self.scores
            ],
        }

    def at_size(self, size: tuple[int, int]) -> "Prediction":
        """The same prediction with its mask brought to (width, height)."""
        if size == (self.mask.shape[1], self.mask.shape[0]):
            return self
        resized = Image.fromarray(self.mask).resize(size, Image.Resampling.NEAREST)
        return replace(self, mask=np.asarray(resized))


@dataclass
class Tally:
    """Pixels and probabilities of each class, added up over the parts of a photo."""

    class_names: Sequence[str]
    pixels: npt.NDArray[np.int64] = field(init=False)
    certainty: npt.NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.pixels = np.zeros(len(self.class_names), dtype=np.int64)
        self.certainty = np.zeros(len(self.class_names))

    def add(self, mask: Mask, probable: npt.NDArray[np.float32]) -> None:
        """Count a part's channels (h, w) and their probabilities (h, w)."""
        channels = len(self.class_names)
        self.pixels += np.bincount(mask.ravel(), minlength=channels)
        self.certainty += np.bincount(mask.ravel(), probable.ravel(), minlength=channels)

    def join(self, other: "Tally") -> None:
        """Add what was counted in another part of the photo."""
        self.pixels += other.pixels
        self.certainty += other.certainty

    def scores(self) -> tuple[ClassScore, ...]:
        """The classes that were seen, the largest first."""
        total = max(1, int(self.pixels.sum()))
        largest_first = np.argsort(-self.pixels, kind="stable").tolist()
        return tuple(
            ClassScore(
                name=self.class_names[channel],
                channel=channel,
                share=float(self.pixels[channel] / total),
                confidence=float(self.certainty[channel] / self.pixels[channel]),
            )
            for channel in largest_first
            if self.pixels[channel]
        )
