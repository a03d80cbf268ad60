"""Labels that a model writes: inpainted backgrounds and pseudo-labels of replay images.

A model labels the very views that training will see. Labels of the whole photo, cut along with it
(`photo_labels.py`, as the paper does), would disagree with what the same model sees in the view,
and training would follow them away from what it knows.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from recallseg.engine.samples.sets import BankSamples, PartlyStored, Pick, Samples, joined
from recallseg.files import cache_root, reserve
from recallseg.labels import VOID
from recallseg.methods import Batch, output_of
from recallseg.model import Decoder, Segmenter
from recallseg.replay.inpainting import inpaint
from recallseg.scenario import LookUp

Relabel = Callable[[Batch], Tensor]
"""From a batch to new labels for it."""

LOOKED_AT_TOGETHER = 8
"""Views in one pass of a network on a CPU: as many as it rounds like a single one."""


def inpainting(previous: Segmenter, confidence: float = 0.0, never: Sequence[int] = ()) -> Relabel:
    """Background takes what the previous model sees there (paper: Y^bi), but none in `never`."""
    return lambda batch: inpaint(batch.labels, _logits(previous, batch), confidence, never)


@dataclass(frozen=True, eq=False)
class Labelling:
    """Everything takes what a helper sees (paper: Y^rp), in channels of the main model."""

    helper: Segmenter
    channel_of: LookUp

    def __call__(self, batch: Batch) -> Tensor:
        """New labels for a batch."""
        seen = _logits(self.helper, batch).max(dim=1).indices.numpy()
        return torch.where(batch.labels == VOID, VOID, torch.from_numpy(self.channel_of[seen]))

    def __eq__(self, other: object) -> bool:
        """The same decoder in the same channels gives the same labels."""
        return isinstance(other, Labelling) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, bytes]:
        return id(self.helper.decoder), self.channel_of.tobytes()


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


class WrittenLabels:
    """Labels of the views of some photos, each written once and kept."""

    def __init__(self, photos: int, views: int, shape: tuple[int, int]) -> None:
        self.labels = _scratch((photos, views, *shape))
        self.is_written = np.zeros((photos, views), dtype=bool)


class RelabelledOnce:
    """Views with features whose labels are written when a view is first drawn, and kept.

    Each process of a run writes those of the views that it draws, and no others. `written` are
    labels that the same model wrote into the same views before.
    """

    def __init__(
        self,
        samples: "BankSamples | RelabelledOnce",
        relabel: Relabel,
        written: WrittenLabels | None = None,
    ) -> None:
        self.samples, self.relabel = samples, relabel
        self.views: int = samples.views
        self.label_shape: tuple[int, int] = samples.label_shape
        self.written = written or WrittenLabels(len(samples), self.views, self.label_shape)

    def __len__(self) -> int:
        return len(self.samples)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The picked samples with their new labels."""
        batch = self.samples.batch(picks)
        return _with_written_labels(batch, [self] * len(picks), picks)


def drawn_from(members: Sequence[Samples], picks: Sequence[Pick]) -> Batch:
    """One sample from each of some sets; what one model labels in several of them, it sees
    together."""
    groups: dict[Hashable, list[int]] = {}
    for place, each in enumerate(members):
        who = each.relabel if isinstance(each, RelabelledOnce) else place
        groups.setdefault(who, []).append(place)
    parts = [
        _drawn_alike([members[place] for place in places], [picks[place] for place in places])
        for places in groups.values()
    ]
    if len(parts) == 1:
        return parts[0]
    batch = joined(parts)
    order = np.argsort([place for places in groups.values() for place in places])
    photos, features = (
        None if each is None else each[order] for each in (batch.photos, batch.features)
    )
    return batch._replace(labels=batch.labels[order], photos=photos, features=features)


def _drawn_alike(members: Sequence[Samples], picks: Sequence[Pick]) -> Batch:
    """One sample from each of some sets that one model labels, or from a single set."""
    once = [each for each in members if isinstance(each, RelabelledOnce)]
    if not once:
        return members[0].batch(picks)
    return _with_written_labels(drawn_from([each.samples for each in once], picks), once, picks)


def _with_written_labels(
    batch: Batch, sets: Sequence[RelabelledOnce], picks: Sequence[Pick]
) -> Batch:
    """A batch with the labels that its samples' sets have of them; those still missing are written
    first. All sets are labelled by the same model."""
    views = [pick.visit % each.views for each, pick in zip(sets, picks, strict=True)]
    places = [
        (each.written, pick.row, view) for each, pick, view in zip(sets, picks, views, strict=True)
    ]
    fresh = [at for at, (written, *place) in enumerate(places) if not written.is_written[*place]]
    if fresh:
        drawn = Batch(
            batch.labels[fresh],
            features=None if batch.features is None else batch.features[fresh],
            label_stride=batch.label_stride,
        )
        for at, labels in zip(fresh, sets[0].relabel(drawn), strict=True):
            written, *place = places[at]
            written.labels[*place] = labels
            written.is_written[*place] = True
    return batch._replace(labels=torch.stack([each.labels[*place] for each, *place in places]))


def relabelled(samples: Samples, relabel: Relabel) -> Samples:
    """Samples with new labels; stored views get theirs once and for all."""
    if isinstance(samples, PartlyStored):
        return samples.each(lambda part: relabelled(part, relabel))
    if isinstance(samples, BankSamples | RelabelledOnce):
        return RelabelledOnce(samples, relabel)
    return Relabelled(samples, relabel)


class HelperLabels:
    """What helper decoders wrote into the views of replay images, for as long as they are there.

    They do not change from step to step, and so their labels are written once.
    """

    def __init__(self) -> None:
        self._written: WeakKeyDictionary[Decoder, dict[Hashable, WrittenLabels]]
        self._written = WeakKeyDictionary()

    def relabelled(
        self, samples: Samples, helper: Segmenter, channel_of: LookUp, photos: Hashable
    ) -> Samples:
        """Samples with the labels of a helper; `photos` names those that they are of."""
        relabel = Labelling(helper, channel_of)
        if not isinstance(samples, BankSamples):
            return relabelled(samples, relabel)
        of_helper = self._written.setdefault(helper.decoder, {})
        key = photos, channel_of.tobytes()
        once = RelabelledOnce(samples, relabel, of_helper.get(key))
        of_helper[key] = once.written
        return once


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
