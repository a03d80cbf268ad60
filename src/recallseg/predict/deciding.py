"""From logits to predictions."""

from collections.abc import Sequence

import torch
from torch import Tensor

from recallseg.predict.prediction import Prediction, Tally


def decide(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The most probable channel of each pixel and its probability, both (B, H, W).

    `logits` are (B, C, H, W). The softmax is never written out: its largest value is
    exp(max − logsumexp).
    """
    highest, mask = logits.max(dim=1)
    return mask.to(torch.uint8), (highest - logits.logsumexp(dim=1)).exp_()


def predictions_of(logits: Tensor, class_names: Sequence[str]) -> list[Prediction]:
    """One prediction for each photo of a batch of logits (B, C, H, W)."""
    masks, probable = (part.cpu().numpy() for part in decide(logits))
    found = []
    for mask, certainty in zip(masks, probable, strict=True):
        tally = Tally(class_names)
        tally.add(mask, certainty)
        found.append(Prediction(mask, tuple(class_names), tally.scores()))
    return found
