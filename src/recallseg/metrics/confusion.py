"""Counting true against predicted labels over a whole split, across batches and processes."""

import torch
from torch import distributed

from recallseg.metrics.scores import Confusion


class ConfusionMatrix(torch.nn.Module):
    """Pixel counts of `classes`×`classes`; void pixels of the truth do not count.

    Counts are integers and are summed over processes, so the result does not depend on batches or
    on how many processes shared the work.
    """

    counted: torch.Tensor

    def __init__(self, classes: int, void: int = 255) -> None:
        super().__init__()
        self.classes, self.void = classes, void
        self.register_buffer("counted", torch.zeros(classes**2, dtype=torch.long))

    def update(self, prediction: torch.Tensor, truth: torch.Tensor) -> None:
        """Count label maps of equal shape (…, H, W)."""
        known = truth != self.void
        pairs = truth[known].long() * self.classes + prediction[known].long()
        self.counted += torch.bincount(pairs, minlength=self.classes**2)

    def counts(self) -> Confusion:
        """The matrix over everything counted so far, in all processes."""
        counted = self.counted.clone()
        if distributed.is_available() and distributed.is_initialized():
            distributed.all_reduce(counted)
        counts: Confusion = counted.reshape(self.classes, self.classes).cpu().numpy()
        return counts
