"""Which pixels are near an edge: a shifted mask is wrong there first."""

import torch.nn.functional as F
from torch import Tensor

REACH = 3
"""The largest distance from an edge, in pixels."""


def near_boundary(mask: Tensor, reach: int = REACH) -> Tensor:
    """The pixels of a mask (H,W) that have another label within `reach` pixels, as booleans.

    Void counts as a label here: in Pascal VOC it is the outline of objects.
    """
    side = 2 * reach + 1
    labels = mask[None].float()
    highest, lowest = labels, -labels
    for window in ((side, 1), (1, side)):
        padding = (window[0] // 2, window[1] // 2)
        highest = F.max_pool2d(highest, window, 1, padding)
        lowest = F.max_pool2d(lowest, window, 1, padding)
    return (highest != -lowest)[0]
