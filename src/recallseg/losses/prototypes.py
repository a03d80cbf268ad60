"""The latent space of SDR: Michieli & Zanuttigh, "Continual Semantic Segmentation via
Repulsion-Attraction of Sparse and Disentangled Latent Representations" (CVPR 2021).

Features are (B, D, h, w), labels (B, h, w) at their size, prototypes (C, D): a mean feature vector
for each class, of which only the `known` ones (C,) mean anything. `means` (C, D) and `counts` (C,)
are what `class_means` gives of a batch: the classes in it are those with a count.
"""

import torch
from torch import Tensor
from torch.nn import functional

from recallseg.labels import VOID
from recallseg.losses.together import each_counts, largest, total

EPSILON = 1e-6
"""The least that a maximum or a squared distance is taken for, where it divides."""


def at_cells(labels: Tensor, size: tuple[int, int], each: int) -> Tensor:
    """Labels (B, H, W) of features of a `size`: the middle one of the `each`² labels of a cell.

    A cell beyond the last label is void.
    """
    height, width = (length * each for length in size)
    bottom, right = max(0, height - labels.shape[1]), max(0, width - labels.shape[2])
    filled = functional.pad(labels, (0, right, 0, bottom), value=VOID)
    return filled[:, each // 2 :: each, each // 2 :: each]


def class_means(features: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The mean feature vector of each class, (classes, D), and how many pixels it is of, in the
    batch of all processes."""
    rows, classes_of_rows = _labelled_rows(features, labels)
    sums = rows.new_zeros(classes, rows.shape[1]).index_add(0, classes_of_rows, rows)
    counts = total(torch.bincount(classes_of_rows, minlength=classes))
    return total(sums) / counts.clamp(min=1)[:, None], counts


def prototype_matching(means: Tensor, counts: Tensor, prototypes: Tensor, known: Tensor) -> Tensor:
    """Mean squared distance of the means of old classes to their prototypes."""
    both = (counts > 0) & known
    if not both.any():
        return means.sum() * 0
    return (means[both] - prototypes[both]).square().mean()


def attraction(features: Tensor, labels: Tensor, means: Tensor, counts: Tensor) -> Tensor:
    """Mean squared distance of features to their class's mean in the batch, class by class."""
    rows, classes_of_rows = _labelled_rows(features, labels)
    each = (rows - means[classes_of_rows]).square().mean(dim=1)
    sums = total(each.new_zeros(len(means)).index_add(0, classes_of_rows, each))
    return (sums / counts.clamp(min=1)).sum() / (counts > 0).sum().clamp(min=1)


def repulsion(means: Tensor, counts: Tensor) -> Tensor:
    """Mean of 1/‖μ_i - μ_j‖ over all pairs of classes in the batch; zero where there is no pair."""
    centres = means[counts > 0]
    if len(centres) < 2:
        return means.sum() * 0
    one, other = torch.triu_indices(len(centres), len(centres), offset=1, device=means.device)
    return (centres[one] - centres[other]).square().sum(dim=1).clamp(min=EPSILON).rsqrt().mean()


def sparsity(features: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Mean of Σexp(f) / Σf over labelled pixels, f being what is positive of a pixel's features,
    divided by the largest feature of all pixels of its class. A sum below 1 counts as 1, so that
    a pixel without features does not count for all others."""
    rows, classes_of_rows = _labelled_rows(features, labels)
    positive = functional.relu(rows)
    blank = positive.new_zeros(classes)
    most = largest(blank.scatter_reduce(0, classes_of_rows, positive.amax(dim=1), "amax"))
    scaled = positive / most.clamp(min=EPSILON)[classes_of_rows][:, None]
    each = scaled.exp().sum(dim=1) / scaled.sum(dim=1).clamp(min=1)
    return each.sum() / each_counts(len(each)).to(each)


def _labelled_rows(features: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The feature vectors of pixels that are not void, (N, D), and their classes, (N,)."""
    rows, classes = features.permute(0, 2, 3, 1).flatten(0, 2), labels.flatten().long()
    labelled = classes != VOID
    return rows[labelled], classes[labelled]
