"""From logits to predictions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from recallseg.model.geometry import own_rows
from recallseg.predict.prediction import Prediction, Tally

AT_ONCE = 2**24
"""Logits that are decided together where a photo is large."""


def decide(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The most probable channel of each pixel and its probability, both (B, H, W).

    `logits` are (B, C, H, W). The softmax's largest value is 1 / Σ exp(logit − max); channel by
    channel, nothing as large as the logits is written, which is half the work of a `logsumexp`.
    """
    first, *others = logits.unbind(dim=1)
    highest, mask = first.clone(), torch.zeros_like(first, dtype=torch.uint8)
    for channel, each in enumerate(others, start=1):
        mask.masked_fill_(each > highest, channel)
        torch.maximum(highest, each, out=highest)
    total = torch.zeros_like(highest)
    for each in (first, *others):
        total += (each - highest).exp_()
    return mask, total.reciprocal_()


def predictions_of(logits: Tensor, class_names: Sequence[str]) -> list[Prediction]:
    """One prediction for each photo of a batch of logits (B, C, H, W)."""
    masks, probable = (part.cpu().numpy() for part in decide(logits))
    found = []
    for mask, certainty in zip(masks, probable, strict=True):
        tally = Tally(class_names)
        tally.add(mask, certainty)
        found.append(Prediction(mask, tuple(class_names), tally.scores()))
    return found


@dataclass(frozen=True)
class CoarseLook:
    """What a model says of a photo that was brought to its working size, not yet decided."""

    maps: Tensor
    """(1, C, h, w): logits of the cells."""
    stride: int
    looked_at: tuple[int, int]
    """Height and width of the photo as the model looked at it."""
    class_names: tuple[str, ...]

    @torch.no_grad()
    def at_size(self, size: tuple[int, int]) -> Prediction:
        """The prediction at (width, height), a few rows at a time: memory is that of the mask."""
        width, height = size
        mask = np.empty((height, width), dtype=np.uint8)
        tally = Tally(self.class_names)
        bands = own_rows(self.maps, self.stride, self.looked_at, (height, width), AT_ONCE)
        for rows, logits in bands:
            [mask[rows]], [probable] = (part.cpu().numpy() for part in decide(logits))
            tally.add(mask[rows], probable)
        return Prediction(mask, self.class_names, tally.scores())
