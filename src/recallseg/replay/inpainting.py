"""Background self-inpainting (paper, sec. 4, the equation of Y^bi)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from recallseg.labels import BACKGROUND


def inpaint(
    labels: Tensor, old_logits: Tensor, confidence: float = 0.0, never: Sequence[int] = ()
) -> Tensor:
    """Give background pixels the class that the previous model M_{k-1} sees there.

    `labels` is (B, H, W) with the new classes of step k, background 0 and void 255; `old_logits`
    is (B, O, H, W) over the old classes, background included. New-class pixels keep their label,
    and so does void. A prediction less probable than `confidence` leaves the background as it is,
    and so does a channel in `never`: classes that the labels show wherever they are.
    """
    if confidence > 0:
        probable, predicted = old_logits.softmax(dim=1).max(dim=1)
        predicted = torch.where(probable >= confidence, predicted, BACKGROUND)
    else:
        predicted = old_logits.max(dim=1).indices
    for channel in never:
        predicted = torch.where(predicted == channel, BACKGROUND, predicted)
    return torch.where(labels == BACKGROUND, predicted.to(labels.dtype), labels)
