"""Distillation: what the new model should still say as the old one did.

In all of these `logits` are the new model's (B, C, H, W), `old_logits` the old model's
(B, O, H, W), whose O channels come first in the new one; `labels` (B, H, W) tell which pixels are
void and, for CIL, which are labelled; RECALL alone learns them here.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from recallseg.labels import VOID
from recallseg.losses.cross_entropy import chosen, mean_over
from recallseg.losses.together import each_counts


def lwf_distillation(logits: Tensor, old_logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of the old channels against the old model's, divided by their number.

    Li & Hoiem, "Learning without Forgetting" (ECCV 2016), eq. 2–4 at temperature 1.
    """
    old = old_logits.shape[1]
    log_p = logits[:, :old].log_softmax(dim=1)
    return mean_over(_soft(log_p, old_logits), labels != VOID) / old


def agreeing_cross_entropy(logits: Tensor, old_logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy in which a label that the old model would give is its whole answer.

    There the probabilities of all old channels are the target, so that what the old model was
    unsure of is not learned as certain. Elsewhere it is the label alone: new classes, and what
    others know better.
    """
    log_p = logits.log_softmax(dim=1)
    soft = _soft(log_p[:, : old_logits.shape[1]], old_logits)
    agrees = old_logits.max(dim=1).indices == labels
    return mean_over(torch.where(agrees, soft, -chosen(log_p, labels)), labels != VOID)


def classwise_distillation(logits: Tensor, old_logits: Tensor, labels: Tensor) -> Tensor:
    """Mean binary cross-entropy of each old channel against the old model's sigmoid.

    Rebuffi et al., "iCaRL" (CVPR 2017), the distillation part of eq. 1.
    """
    old = old_logits.shape[1]
    target = old_logits.sigmoid()
    each = functional.binary_cross_entropy_with_logits(logits[:, :old], target, reduction="none")
    return mean_over(each.mean(dim=1), labels != VOID)


def entropy_weighted_distillation(
    logits: Tensor, old_logits: Tensor, labels: Tensor, weight: float
) -> Tensor:
    """Cross-entropy against the old model on unlabelled pixels, each times 1 + weight · H.

    H is the entropy of the old model's answer in bits. Klingner et al., "Class-Incremental Learning
    for Semantic Segmentation Re-Using Neither Old Data Nor Old Labels" (ITSC 2020), eq. 5–7.
    """
    old = old_logits.shape[1]
    log_t = old_logits.log_softmax(dim=1)
    bits = -(log_t.exp() * log_t).sum(dim=1) / math.log(2)
    each = (1 + weight * bits) * _soft(logits.log_softmax(dim=1)[:, :old], old_logits)
    return mean_over(each, labels == 0)


def unbiased_distillation(logits: Tensor, old_logits: Tensor, labels: Tensor) -> Tensor:
    """LwF's distillation with the new classes counted as background, as the old model saw them.

    Cermelli et al. (CVPR 2020), eq. 7 and 8, divided by the number of old channels.
    """
    old = old_logits.shape[1]
    everything = logits.logsumexp(dim=1, keepdim=True)
    background = torch.cat([logits[:, :1], logits[:, old:]], dim=1).logsumexp(dim=1, keepdim=True)
    log_p = torch.cat([background, logits[:, 1:old]], dim=1) - everything
    return mean_over(_soft(log_p, old_logits), labels != VOID) / old


def feature_distillation(features: Tensor, old_features: Tensor) -> Tensor:
    """Mean squared difference of two encoders' features.

    Michieli & Zanuttigh, "Incremental Learning Techniques for Semantic Segmentation" (ICCVW 2019),
    eq. 4.
    """
    summed = functional.mse_loss(features, old_features, reduction="sum")
    return summed / each_counts(features.numel()).to(summed)


def _soft(log_p: Tensor, old_logits: Tensor) -> Tensor:
    """Cross-entropy (B, H, W) of log-probabilities against what the old model gives."""
    return -(old_logits.softmax(dim=1) * log_p).sum(dim=1)
