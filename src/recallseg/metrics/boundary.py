"""Which pixels are near an edge: a shifted mask is wrong there first."""

from collections.abc import Callable

import torch
from torch import Tensor

REACH = 3
"""The largest distance from an edge, in pixels."""


def near_boundary(mask: Tensor, reach: int = REACH) -> Tensor:
    """The pixels of a mask (H,W) that have another label within `reach` pixels, as booleans.

    Void counts as a label here: in Pascal VOC it is the outline of objects.
    """
    highest = lowest = mask
    for side in (0, 1):
        highest = _within(reach, highest, side, torch.maximum)
        lowest = _within(reach, lowest, side, torch.minimum)
    return highest != lowest


def _within(
    reach: int, labels: Tensor, side: int, which: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """Which of two labels is the highest, or the lowest, of all within `reach` along a side."""
    result = labels.clone()
    for shift in range(1, min(reach + 1, labels.shape[side])):
        length = labels.shape[side] - shift
        for here, there in ((0, shift), (shift, 0)):
            of_result = result.narrow(side, here, length)
            of_result.copy_(which(of_result, labels.narrow(side, there, length)))
    return result
