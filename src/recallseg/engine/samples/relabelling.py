"""Labels that a model writes: inpainted backgrounds and pseudo-labels of replay images.

A model labels the very views that training will see. Labels of the whole photo, cut along with it
(`photo_labels.py`, as the paper does), would disagree with what the same model sees in the view,
and training would follow them away from what it knows.
"""

import math
from collections.abc import Callable, Sequence
from tempfile import TemporaryFile

import numpy as np
import torch
from torch import Tensor

from recallseg.engine.samples.sets import BankSamples, PartlyStored, Pick, Samples
from recallseg.files import cache_root, reserve
from recallseg.labels import VOID
from recallseg.methods import Batch, output_of
from recallseg.model import Segmenter
from recallseg.replay.inpainting import inpaint
from recallseg.scenario import LookUp

Relabel = Callable[[Batch], Tensor]
"""From a batch to new labels for it."""

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


class RelabelledOnce:
    """Views with features whose labels are written when a view is first drawn, and kept.

    Each process of a run writes those of the views that it draws, and no others.
    """

    def __init__(self, samples: "BankSamples | RelabelledOnce", relabel: Relabel) -> None:
        self.samples, self.relabel = samples, relabel
        self.views: int = samples.views
        self.label_shape: tuple[int, int] = samples.label_shape
        shape = (len(samples), self.views)
        self._labels = _scratch((*shape, *self.label_shape))
        self._is_written = np.zeros(shape, dtype=bool)

    def __len__(self) -> int:
        return len(self.samples)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The picked samples with their new labels."""
        batch = self.samples.batch(picks)
        rows, views = [pick.row for pick in picks], [pick.visit % self.views for pick in picks]
        fresh = np.flatnonzero(~self._is_written[rows, views])
        if len(fresh):
            drawn = Batch(
                batch.labels[fresh],
                features=None if batch.features is None else batch.features[fresh],
                label_stride=batch.label_stride,
            )
            places = [rows[at] for at in fresh], [views[at] for at in fresh]
            self._labels[places] = self.relabel(drawn)
            self._is_written[places] = True
        return batch._replace(labels=self._labels[rows, views])


def relabelled(samples: Samples, relabel: Relabel) -> Samples:
    """Samples with new labels; stored views get theirs once and for all."""
    if isinstance(samples, PartlyStored):
        return samples.each(lambda part: relabelled(part, relabel))
    if isinstance(samples, BankSamples | RelabelledOnce):
        return RelabelledOnce(samples, relabel)
    return Relabelled(samples, relabel)


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
