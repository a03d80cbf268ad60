"""Label evaluation (paper, sec. 4): pseudo-labels for replay images."""

from dataclasses import dataclass

from torch import Tensor

from recallseg.data.dataset import Mask
from recallseg.scenario import LookUp


@dataclass(frozen=True)
class PseudoLabel:
    """What a helper decoder sees in one image, in the channels of the main model."""

    mask: Mask
    """(H, W)."""
    area: float
    """The share of the image that shows the class it was fetched for."""
    confidence: float
    """The mean probability of that class where it is seen; 0 where it is not."""


def pseudo_label(logits: Tensor, queried: int, channels: LookUp) -> PseudoLabel:
    """Label one image by argmax over C_i ∪ {b} (paper: Y^rp).

    `logits` (1, 1 + |C_i|, H, W) are a helper decoder's; `queried` is the helper's channel of the
    class that the image was fetched for, and `channels` takes the helper's channels to the main
    model's.
    """
    probable, seen = logits[0].softmax(dim=0).max(dim=0)
    hits = seen == queried
    return PseudoLabel(
        mask=channels[seen.cpu().numpy()],
        area=float(hits.float().mean()),
        confidence=float(probable[hits].mean()) if hits.any() else 0.0,
    )
