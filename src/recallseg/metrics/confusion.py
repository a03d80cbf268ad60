"""Counting true against predicted labels over a whole split, across batches and processes."""

import recallseg.torchvision_guard  # noqa: F401

import numpy as np
import torch
from torchmetrics.classification import MulticlassConfusionMatrix

from recallseg.metrics.scores import Confusion


class ConfusionMatrix(torch.nn.Module):
    """Pixel counts of `classes`×`classes`; void pixels of the truth do not count.

    Counts are integers and are summed over processes, so the result does not depend on batches or
    on how many processes shared the work.
    """

    def __init__(self, classes: int, void: int = 255) -> None:
        super().__init__()
        self.metric = MulticlassConfusionMatrix(classes, ignore_index=void, validate_args=False)

    def update(self, prediction: torch.Tensor, truth: torch.Tensor) -> None:
        """Count label maps of equal shape (…, H, W)."""
        self.metric.update(prediction.long(), truth.long())

    def counts(self) -> Confusion:
        """The matrix over everything counted so far, in all processes."""
        counts: Confusion = self.metric.compute().cpu().numpy().astype(np.int64)
        return counts
