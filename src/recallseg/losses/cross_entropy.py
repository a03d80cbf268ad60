"""Cross-entropies on labels: the plain one, the unbiased one and one for each class alone."""

import torch
from torch import Tensor
from torch.nn import functional

from recallseg.labels import VOID
from recallseg.losses.together import each_counts


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean −log p(label) over pixels that are not void; zero where all are (RECALL, eq. 1).

    `logits` is (B, C, H, W), `labels` (B, H, W) with values below C or 255.
    """
    summed = functional.cross_entropy(logits, labels.long(), ignore_index=VOID, reduction="sum")
    return summed / each_counts((labels != VOID).sum())


def unbiased_cross_entropy(logits: Tensor, labels: Tensor, old: int) -> Tensor:
    """Cross-entropy in which background means any of the first `old` channels.

    Cermelli et al., "Modeling the Background for Incremental Learning in Semantic Segmentation"
    (CVPR 2020), eq. 5: at a later step an old class is labelled background, so the probability of
    background is the sum of those of background and all old classes.
    """
    background = logits[:, :old].logsumexp(dim=1, keepdim=True)
    meant = torch.cat([background, logits[:, 1:]], dim=1)
    return mean_over(logits.logsumexp(dim=1) - chosen(meant, labels), labels != VOID)


def classwise_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy of every channel against "is it this class", summed over channels.

    Rebuffi et al., "iCaRL" (CVPR 2017), the classification part of eq. 1.
    """
    channels = torch.arange(logits.shape[1], device=logits.device).view(1, -1, 1, 1)
    target = (labels.long().unsqueeze(1) == channels).to(logits.dtype)
    each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return mean_over(each.sum(dim=1), labels != VOID)


def chosen(values: Tensor, labels: Tensor) -> Tensor:
    """Of values (B, C, H, W) those of the labels, (B, H, W); channel 0's where a label is void."""
    places = labels.long().where(labels != VOID, 0).unsqueeze(1)
    return values.gather(1, places).squeeze(1)


def mean_over(values: Tensor, where: Tensor) -> Tensor:
    """The mean of values (B, H, W) at some pixels; zero where there are none."""
    return values.where(where, 0).sum() / each_counts(where.sum())
