"""CIL (Klingner et al., ITSC 2020): distillation where there is no label."""

from typing import ClassVar

from torch import Tensor

from recallseg.labels import BACKGROUND, VOID
from recallseg.losses import cross_entropy, entropy_weighted_distillation
from recallseg.methods.base import Batch, Method, mean_of_shares, output_of
from recallseg.model import Segmenter


class ClassIncrementalLearning(Method):
    """Cross-entropy on labelled pixels, the previous model's answers on all others.

    An answer counts the more, the less sure it is: `entropy` weighs its entropy in bits.
    """

    title = "CIL"
    defaults: ClassVar = {"distillation": 1.0, "entropy": 1.0}

    @mean_of_shares
    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """Cross-entropy on new classes plus weighted distillation on the rest."""
        logits, old = output_of(model, batch).logits, self.old(batch).logits
        labelled = batch.labels.masked_fill(batch.labels == BACKGROUND, VOID)
        kept = entropy_weighted_distillation(logits, old, batch.labels, self.weights["entropy"])
        return cross_entropy(logits, labelled) + self.weights["distillation"] * kept
