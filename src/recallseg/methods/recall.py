"""RECALL (Maracani et al., ICCV 2021): replay and background inpainting."""

from typing import Literal

from recallseg.methods.base import Method


class Recall(Method):
    """Cross-entropy on T_k^rp: inpainted samples of the step, interleaved with replayed ones.

    The loss is that of fine-tuning; what makes it RECALL is the data it is trained on.
    """

    title = "RECALL"
    inpaints = True

    def row(self, source: str | None, labels: Literal["helpers", "previous"]) -> str:
        """Its parts have names of their own, as in the paper's ablation."""
        if source is None:
            return "Inpainting" if self.inpainting else "FT"
        return f"RECALL ({source})" if self.inpainting else f"{source} only"
