"""Learning without Forgetting (Li & Hoiem, ECCV 2016), and its multi-class form from iCaRL."""

from typing import ClassVar

from torch import Tensor

from recallseg.losses import (
    classwise_cross_entropy,
    classwise_distillation,
    cross_entropy,
    lwf_distillation,
)
from recallseg.methods.base import Batch, Method, mean_of_shares, output_of
from recallseg.model import Segmenter


class LearningWithoutForgetting(Method):
    """Cross-entropy, and the old channels kept close to the previous model's.

    The weight is the one that the field's comparisons use since MiB (CVPR 2020).
    """

    title = "LwF"
    defaults: ClassVar = {"distillation": 100.0}

    @mean_of_shares
    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """Cross-entropy plus distillation."""
        logits, old = output_of(model, batch).logits, self.old(batch).logits
        kept = lwf_distillation(logits, old, batch.labels)
        return cross_entropy(logits, batch.labels) + self.weights["distillation"] * kept


class MultiClassLwF(Method):
    """LwF-MC (Rebuffi et al., CVPR 2017): every channel is a yes-or-no question of its own.

    It is so from step 0 on: the sigmoid of an old logit is a probability only where it was trained
    as one.
    The weight is for each old channel, as in the field's comparisons since MiB (CVPR 2020).
    """

    title = "LwF-MC"
    defaults: ClassVar = {"distillation": 10.0}

    @staticmethod
    @mean_of_shares
    def initial_loss(model: Segmenter, batch: Batch) -> Tensor:
        """Binary cross-entropies against labels."""
        return classwise_cross_entropy(output_of(model, batch).logits, batch.labels)

    @mean_of_shares
    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """Binary cross-entropies against labels, and against the previous model."""
        logits, old = output_of(model, batch).logits, self.old(batch).logits
        weight = self.weights["distillation"] * old.shape[1]
        kept = classwise_distillation(logits, old, batch.labels)
        return classwise_cross_entropy(logits, batch.labels) + weight * kept
