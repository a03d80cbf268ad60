"""Labels that a model writes: inpainted backgrounds and pseudo-labels of replay images.

A model labels the very views that training will see. Labels of the whole photo, cut along with it
(`photo_labels.py`, as the paper does), would disagree with what the same model sees in the view,
and training would follow them away from what it knows.
"""

import math
from collections.abc import Callable, Sequence
from copy import copy
from tempfile import TemporaryFile

import numpy as np
import torch
from torch import Tensor

from recallseg.engine.samples.sets import BankSamples, PartlyStored, Pick, Samples
from recallseg.files import cache_root, reserve
from recallseg.labels import VOID
from recallseg.methods import Batch, output_of
from recallseg.model import Segmenter
from recallseg.model.cores import on_every_core
from recallseg.replay.inpainting import inpaint
from recallseg.scenario import LookUp

Relabel = Callable[[Batch], Tensor]
"""From a batch to new labels for it."""

VIEWS_AT_ONCE = 32
LOOKED_AT_TOGETHER = 8
"""Views in one pass of a network on a CPU: as many as it rounds like a single one."""


def inpainting(previous: Segmenter, confidence: float = 0.0, never: Sequence[int] = ()) -> Relabel:
    """Background takes what the previous model sees there (paper: Y^bi), but none in `never`."""
    return lambda batch: inpaint(batch.labels, _logits(previous, batch), confidence, never)


def labelling(helper: Segmenter, channel_of: LookUp) -> Relabel:
    """Everything takes what a helper sees (paper: Y^rp), in channels of the main model."""

    def relabel(batch: Batch) -> Tensor:
        seen = _logits(helper, batch).max(dim=1).indices.numpy()
        return torch.where(batch.labels == VOID, VOID, torch.from_numpy(channel_of[seen]))

    return relabel


class Relabelled:
    """Samples whose labels are written as they are drawn."""

    def __init__(self, samples: Samples, relabel: Relabel) -> None:
        self.samples, self.relabel = samples, relabel

    def __len__(self) -> int:
        return len(self.samples)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The picked samples with their new labels."""
        batch = self.samples.batch(picks)
        return batch._replace(labels=self.relabel(batch))


def relabelled(samples: Samples, relabel: Relabel) -> Samples:
    """Samples with new labels; stored views get theirs once and for all."""
    if isinstance(samples, PartlyStored):
        return samples.each(lambda part: relabelled(part, relabel))
    drawn = Relabelled(samples, relabel)
    if not isinstance(samples, BankSamples):
        return drawn
    views = samples.bank.views
    rows = max(1, VIEWS_AT_ONCE // views)
    labels = _scratch((len(samples), views, *samples.label_shape))

    def label(some: range) -> None:
        written = drawn.batch([Pick(row, view) for row in some for view in range(views)]).labels
        labels[some.start : some.stop] = written.view(len(some), views, *samples.label_shape)

    every = range(len(samples))
    for _ in on_every_core(label, [every[at : at + rows] for at in every[::rows]]):
        pass
    result = copy(samples)
    result.relabelled = labels
    return result


@torch.no_grad()
def _logits(model: Segmenter, batch: Batch) -> Tensor:
    """A model's logits of a batch that is not on its device.

    A CPU looks at a few features at a time: how it rounds depends on how many there are from about
    16 on, and labels that are written as a view is drawn are those that would have been stored.
    """
    device = next(model.parameters()).device
    if batch.features is None or device.type != "cpu":
        return output_of(model, batch.to(device)).logits.cpu()
    groups = zip(
        torch.split(batch.labels, LOOKED_AT_TOGETHER),
        torch.split(batch.features, LOOKED_AT_TOGETHER),
        strict=True,
    )
    few = [batch._replace(labels=labels, features=features) for labels, features in groups]
    return torch.cat([output_of(model, views).logits for views in few])


def _scratch(shape: tuple[int, ...]) -> Tensor:
    """A tensor in a file without a name, which is gone when nothing refers to it any more."""
    folder = cache_root()
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder) as file:
        reserve(file, 0, math.prod(shape), folder)
        return torch.from_numpy(np.memmap(file, np.uint8, "r+", shape=shape))
