"""SDR (Michieli & Zanuttigh, CVPR 2021): MiB with a latent space shaped by class prototypes."""

from collections.abc import Iterable
from typing import ClassVar

import torch
from torch import Tensor, nn

from recallseg.config import MethodConfig
from recallseg.labels import BACKGROUND
from recallseg.losses.prototypes import (
    at_cells,
    attraction,
    class_means,
    prototype_matching,
    repulsion,
    sparsity,
)
from recallseg.methods.base import Batch, output_of
from recallseg.methods.mib import ModelingTheBackground
from recallseg.model import Output, Segmenter
from recallseg.replay.inpainting import inpaint
from recallseg.scenario import Step


class Prototypes(nn.Module):
    """The running mean of each class's feature vectors, over all pixels seen so far."""

    means: Tensor
    """(C, D)."""
    counts: Tensor
    """(C,): how many pixels each is the mean of."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("means", torch.zeros(0, 0))
        self.register_buffer("counts", torch.zeros(0, dtype=torch.long))

    @property
    def known(self) -> Tensor:
        """Which classes have been seen, (C,)."""
        return self.counts > 0

    def make_room(self, classes: int, width: int) -> None:
        """Add classes that have not been seen yet."""
        missing = classes - len(self.counts)
        if missing > 0:
            added = self.means.new_zeros(missing, width)
            self.means = torch.cat([self.means.reshape(-1, width), added])
            self.counts = torch.cat([self.counts, self.counts.new_zeros(missing)])

    @torch.no_grad()
    def add(self, means: Tensor, counts: Tensor) -> None:
        """Count in some more pixels of each class, by their mean."""
        total = self.counts + counts
        share = counts / total.clamp(min=1)
        self.means = self.means.lerp(means.to(self.means), share[:, None].to(self.means))
        self.counts = total


class SparseAndDisentangled(ModelingTheBackground):
    """MiB's two terms; prototypes of old classes matched; features of a class drawn together,
    classes pushed apart, features made sparse.

    The last four act on features, so with a frozen encoder they change nothing and are left out.
    The weights are the authors', the same for every split. New classes start at random, not as
    MiB's do, unless `method.growth` says otherwise.
    """

    title = "SDR"
    growth = "random"
    defaults: ClassVar = {
        "distillation": 100.0,
        "matching": 1e-2,
        "attraction": 1e-3,
        "repulsion": 1e-3,
        "sparsity": 1e-3,
    }
    memory: Prototypes | None

    def __init__(self, config: MethodConfig) -> None:
        super().__init__(config)
        self.memory = Prototypes() if config.train_encoder else None

    def begin(self, step: Step, model: Segmenter, previous: Segmenter | None = None) -> None:
        """Make room for the prototypes of new classes."""
        super().begin(step, model, previous)
        self.step, self.stride = step, model.encoder.stride
        if self.memory:
            self.memory.to(model.encoder.mean.device)
            self.memory.make_room(step.channels, model.encoder.channels)

    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """MiB's terms and, where features can move, those of the latent space."""
        new, old = output_of(model, batch), self.old(batch)
        total = self.unbiased(new, old, batch)
        return total + self._latent(self.memory, new, old, batch) if self.memory else total

    def _latent(self, kept: Prototypes, new: Output, old: Output, batch: Batch) -> Tensor:
        """The four terms on features, which see the background as M_{k-1} does."""
        features, weights = new.features, self.weights
        labels = self._at_cells(self._seen(batch.labels, old.logits), features, batch.label_stride)
        means, counts = class_means(features, labels, self.step.channels)
        self._count_in(kept, means, counts)
        past = slice(BACKGROUND + 1, old.logits.shape[1])
        matched = prototype_matching(means[past], counts[past], kept.means[past], kept.known[past])
        return (
            weights["matching"] * matched
            + weights["attraction"] * attraction(features, labels, means, counts)
            + weights["repulsion"] * repulsion(means, counts)
            + weights["sparsity"] * sparsity(features, labels, self.step.channels)
        )

    def _seen(self, labels: Tensor, old_logits: Tensor) -> Tensor:
        """Labels whose background may hold old classes are filled by M_{k-1}."""
        if self.step.old_labels_visible:
            return labels
        return inpaint(labels, old_logits)

    def _count_in(self, kept: Prototypes, means: Tensor, counts: Tensor) -> None:
        """Move the prototypes of the step's own classes; all others stay as their step left them,
        and the background has none."""
        counts = counts.clone()
        counts[: 1 + len(self.step.old_classes)] = 0
        kept.add(means, counts)

    def _at_cells(self, labels: Tensor, features: Tensor, label_stride: int) -> Tensor:
        """The labels at the pixels where the cells of features lie."""
        size = (features.shape[-2], features.shape[-1])
        return at_cells(labels, size, self.stride // label_stride)

    @torch.no_grad()
    def review(self, step: Step, model: Segmenter, batches: Iterable[Batch]) -> None:
        """Take the prototypes of step 0, which methods share and none of them watches: its photos
        are seen once more. Later steps leave those that training gathered."""
        if self.memory is None or step.index > 0:
            return
        for batch in batches:
            features = output_of(model, batch).features
            labels = self._at_cells(batch.labels, features, batch.label_stride)
            self._count_in(self.memory, *class_means(features, labels, step.channels))
