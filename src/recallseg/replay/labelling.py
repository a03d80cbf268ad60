"""Label evaluation (paper, sec. 4): pseudo-labels for replay images, and which of them to trust."""

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


@dataclass(frozen=True)
class LabelFilter:
    """Which images are worth keeping, by what the helper decoder sees of the class in them."""

    present: bool = True
    """The class must be seen at all."""
    min_area: float = 0.0
    max_area: float = 1.0
    min_confidence: float = 0.0

    def reason_to_reject(self, label: PseudoLabel) -> str | None:
        """Why an image is left out, in a few words, or None to keep it."""
        if self.present and label.area == 0:
            return "class not seen"
        if label.area < self.min_area:
            return "class too small"
        if label.area > self.max_area:
            return "class too large"
        if label.confidence < self.min_confidence:
            return "not sure enough"
        return None


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
