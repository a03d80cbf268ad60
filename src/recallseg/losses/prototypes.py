"""The latent space of SDR: Michieli & Zanuttigh, "Continual Semantic Segmentation via
Repulsion-Attraction of Sparse and Disentangled Latent Representations" (CVPR 2021).

Features are (B, D, h, w), labels (B, h, w) at their size, prototypes (C, D): a mean feature vector
for each class, of which only the `known` ones (C,) mean anything.
"""

import torch
from torch import Tensor
from torch.nn import functional

from recallseg.labels import VOID

EPSILON = 1e-6


def at_cells(labels: Tensor, size: tuple[int, int], each: int) -> Tensor:
    """Labels (B, H, W) of features of a `size`: the middle one of the `each`² labels of a cell.

    A cell beyond the last label is void.
    """
    height, width = (length * each for length in size)
    bottom, right = max(0, height - labels.shape[1]), max(0, width - labels.shape[2])
    filled = functional.pad(labels, (0, right, 0, bottom), value=VOID)
    return filled[:, each // 2 :: each, each // 2 :: each]


def class_means(features: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The mean feature vector of each class, (classes, D), and how many pixels it is of."""
    rows = features.permute(0, 2, 3, 1).flatten(0, 2)
    places = labels.flatten().long()
    seen = places != VOID
    rows, places = rows[seen], places[seen]
    sums = rows.new_zeros(classes, rows.shape[1]).index_add(0, places, rows)
    counts = torch.bincount(places, minlength=classes)
    return sums / counts.clamp(min=1)[:, None], counts


def prototype_matching(means: Tensor, counts: Tensor, prototypes: Tensor, known: Tensor) -> Tensor:
    """Mean squared distance of the means of old classes to their prototypes (eq. 2)."""
    both = (counts > 0) & known
    if not both.any():
        return means.sum() * 0
    return (means[both] - prototypes[both]).square().mean()


def attraction(features: Tensor, labels: Tensor, prototypes: Tensor, known: Tensor) -> Tensor:
    """Mean squared distance of features to the prototype of their class, class by class (eq. 3)."""
    rows = features.permute(0, 2, 3, 1).flatten(0, 2)
    places = labels.flatten().long()
    usable = places != VOID
    usable &= known[places.where(usable, 0)]
    rows, places = rows[usable], places[usable]
    if not len(places):
        return features.sum() * 0
    each = (rows - prototypes[places]).square().mean(dim=1)
    counts = torch.bincount(places, minlength=len(prototypes))
    sums = each.new_zeros(len(prototypes)).index_add(0, places, each)
    return (sums / counts.clamp(min=1)).sum() / (counts > 0).sum()


def repulsion(means: Tensor, counts: Tensor, prototypes: Tensor, known: Tensor) -> Tensor:
    """Mean of 1 / distance between a class's mean and the prototypes of all others (eq. 4)."""
    present = (counts > 0).nonzero().flatten()
    others = known.nonzero().flatten()
    if not len(present) or not len(others):
        return means.sum() * 0
    gaps = means[present][:, None] - prototypes[others][None]
    inverse = 1 / (gaps.square().sum(dim=2) + EPSILON).sqrt()
    differ = present[:, None] != others[None]
    return inverse.where(differ, 0).sum() / differ.sum().clamp(min=1)


def sparsity(features: Tensor) -> Tensor:
    """Mean of Σexp(f) / Σf over pixels, f being features divided by their largest value (eq. 5)."""
    positive = functional.relu(features)
    scaled = positive / positive.amax(dim=1, keepdim=True).clamp(min=EPSILON)
    return (scaled.exp().sum(dim=1) / scaled.sum(dim=1).clamp(min=1)).mean()
