"""RECALL (Maracani et al., ICCV 2021): replay and background inpainting."""

from typing import Literal

from torch import Tensor

from recallseg.losses import agreeing_cross_entropy
from recallseg.methods.base import Batch, Method, mean_of_shares, output_of
from recallseg.model import Segmenter


class Recall(Method):
    """Cross-entropy on T_k^rp: inpainted samples of the step, interleaved with replayed ones.

    The loss is that of fine-tuning; what makes it RECALL is the data it is trained on.
    """

    title = "RECALL"
    inpaints = True

    @mean_of_shares
    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """Cross-entropy with labels; softened, if the settings say so, where M_{k-1} agrees."""
        if not self.config.soft_labels:
            return super().loss(model, batch)
        logits = output_of(model, batch).logits
        return agreeing_cross_entropy(logits, self.old(batch).logits, batch.labels)

    def row(self, source: str | None, labels: Literal["helpers", "previous"]) -> str:
        """Its parts have names of their own, as in the paper's ablation."""
        if source is None:
            return "Inpainting" if self.inpainting else "FT"
        return f"RECALL ({source})" if self.inpainting else f"{source} only"
