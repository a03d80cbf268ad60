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
from recallseg.scenario import Step


class Prototypes(nn.Module):
    """The mean feature vector of each class over all pixels seen so far."""

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
    """MiB, prototype matching, attraction to prototypes, repulsion between them, sparsity.

    All but MiB's two terms act on features, so with a frozen encoder they change nothing and are
    left out. The weights are the authors'.
    """

    title = "SDR"
    defaults: ClassVar = {
        "distillation": 10.0,
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
        self.stride = model.encoder.stride
        if self.memory:
            self.memory.to(model.encoder.mean.device)
            self.memory.make_room(step.channels, model.encoder.channels)

    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """MiB's terms and, where features can move, those of the latent space."""
        new, old = output_of(model, batch), self.old(batch)
        total = self.unbiased(new, old, batch)
        return total + self._latent(self.memory, new, old, batch) if self.memory else total

    def _latent(self, kept: Prototypes, new: Output, old: Output, batch: Batch) -> Tensor:
        """The four terms on features; background pixels are whose M_{k-1} says they are."""
        seen = old.logits.max(dim=1).indices.to(batch.labels.dtype)
        labels = seen.where(batch.labels == BACKGROUND, batch.labels)
        labels = self._at_cells(labels, new.features, batch.label_stride)
        prototypes, known = kept.means, kept.known
        means, counts = class_means(new.features, labels, len(prototypes))
        kept.add(means, counts)
        is_old = torch.arange(len(known), device=known.device) < old.logits.shape[1]
        return (
            self.weights["matching"] * prototype_matching(means, counts, prototypes, known & is_old)
            + self.weights["attraction"] * attraction(new.features, labels, prototypes, known)
            + self.weights["repulsion"] * repulsion(means, counts, prototypes, known)
            + self.weights["sparsity"] * sparsity(new.features)
        )

    def _at_cells(self, labels: Tensor, features: Tensor, label_stride: int) -> Tensor:
        """The labels at the pixels where the cells of features lie."""
        size = (features.shape[-2], features.shape[-1])
        return at_cells(labels, size, self.stride // label_stride)

    @torch.no_grad()
    def review(self, step: Step, model: Segmenter, batches: Iterable[Batch]) -> None:
        """Take the prototypes of a step's classes anew, from the model that has learned them."""
        if self.memory is None:
            return
        fresh = Prototypes().to(self.memory.means.device)
        fresh.make_room(step.channels, model.encoder.channels)
        for batch in batches:
            features = output_of(model, batch).features
            labels = self._at_cells(batch.labels, features, batch.label_stride)
            fresh.add(*class_means(features, labels, step.channels))
        first = 1 + len(step.old_classes) if step.index else 0
        self.memory.means[first:] = fresh.means[first:]
        self.memory.counts[first:] = fresh.counts[first:]
