"""ILT (Michieli & Zanuttigh, ICCVW 2019): distillation of output and features."""

from typing import ClassVar

from torch import Tensor

from recallseg.losses import cross_entropy, feature_distillation, lwf_distillation
from recallseg.methods.base import Batch, Method, mean_of_shares, output_of
from recallseg.model import Segmenter


class IncrementalLearningTechniques(Method):
    """LwF, and features kept close to the previous encoder's.

    With a frozen encoder (its E_F variant) features cannot move and the second term is zero. Both
    weights are those that the field's comparisons use since MiB (CVPR 2020).
    """

    title = "ILT"
    defaults: ClassVar = {"distillation": 100.0, "features": 100.0}

    @mean_of_shares
    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """Cross-entropy plus both distillations."""
        new, old = output_of(model, batch), self.old(batch)
        kept = lwf_distillation(new.logits, old.logits, batch.labels)
        total = cross_entropy(new.logits, batch.labels) + self.weights["distillation"] * kept
        return total + self.weights["features"] * feature_distillation(new.features, old.features)
