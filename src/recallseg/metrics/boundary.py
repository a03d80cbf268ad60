"""Which pixels lie near an edge, where a mask that stands beside its object goes wrong first."""

import torch.nn.functional as F
from torch import Tensor

REACH = 3
"""How near, in pixels."""


def near_boundary(mask: Tensor, reach: int = REACH) -> Tensor:
    """The pixels of a mask (H,W) that have another label within `reach` pixels, as truth values.

    Void counts as a label here: on Pascal VOC it is what objects are outlined with.
    """
    side = 2 * reach + 1
    labels = mask[None].float()
    highest, lowest = labels, -labels
    for window in ((side, 1), (1, side)):
        padding = (window[0] // 2, window[1] // 2)
        highest = F.max_pool2d(highest, window, 1, padding)
        lowest = F.max_pool2d(lowest, window, 1, padding)
    return (highest != -lowest)[0]
