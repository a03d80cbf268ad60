"""1×1 convolutions that a single core of a CPU computes quickly for few photos, too.

On one thread PyTorch gives a 1×1 convolution to oneDNN only if 16 photos or more come at once, and
otherwise multiplies matrices photo by photo, which is slower. It would be right to do so for a
convolution with dilation, whatever it convolves; and a kernel of one tap has nothing to spread.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MANY = 16
"""So many photos at once go to oneDNN as they are."""
LARGE = 20480
"""Up to so many numbers, the map of a single photo does not go to oneDNN in any case."""


def is_pointwise(module: nn.Module) -> bool:
    """Whether a module is a convolution that `pointwise` can stand for."""
    return (
        type(module) is nn.Conv2d
        and module.kernel_size == (1, 1)
        and module.groups == 1
        and module.padding == (0, 0)
    )


def dilation_for(x: Tensor) -> int:
    """A dilation with which a 1×1 convolution of (B,C,H,W) goes to oneDNN, where there is one.

    Where nothing is learned, small maps do not go there: a photo is rounded alike whether it comes
    alone or with a few others.
    """
    if torch.compiler.is_compiling() or x.device.type != "cpu" or len(x) >= MANY:
        return 1
    return 2 if torch.is_grad_enabled() or x[0].numel() > LARGE else 1


def pointwise(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: tuple[int, ...] = (1, 1)
) -> Tensor:
    """`F.conv2d` of (B,C,H,W) with weights (K,C,1,1)."""
    return F.conv2d(x, weight, bias, stride, dilation=dilation_for(x))


class PointwiseConv(nn.Conv2d):
    """A 1×1 convolution that is quick on one core of a CPU; its results are the same."""

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of (B,C,H,W)."""
        return pointwise(x, self.weight, self.bias, self.stride)
