"""RECALL (Maracani et al., ICCV 2021): replay and background inpainting."""

from recallseg.methods.base import Method


class Recall(Method):
    """Cross-entropy on T_k^rp: inpainted samples of the step, interleaved with replayed ones.

    The loss is that of fine-tuning; what makes it RECALL is the data it is trained on.
    """

    inpaints = True
