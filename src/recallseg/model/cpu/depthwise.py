"""Depthwise convolutions with wide kernels, whose weights get their gradient quickly on a CPU.

oneDNN has fast kernels for such a convolution and for the gradient of its input, but not for that
of its weights from 5×5 on, which took half of the backward pass of EfficientNet's last stages.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from recallseg.model.cpu import is_plain_on_cpu

WIDE = 5
"""Kernels from this side on are slow to differentiate by their weights."""


def is_wide_depthwise(module: nn.Module) -> bool:
    """Whether a module is a convolution that `depthwise` can stand for, and should."""
    return (
        isinstance(module, nn.Conv2d)
        and module.groups == module.in_channels == module.out_channels > 1
        and min(module.kernel_size) >= WIDE
        and set(module.dilation) == {1}
        and module.stride[0] == module.stride[1]
        and module.bias is None
        and not isinstance(module.padding, str)
    )


def depthwise(x: Tensor, weight: Tensor, stride: int, padding: tuple[int, int]) -> Tensor:
    """`F.conv2d` of (B,C,H,W) with weights (C,1,k,l), one group per channel."""
    learns = torch.is_grad_enabled() and weight.requires_grad
    if learns and is_plain_on_cpu(x, weight):
        result: Tensor = _Depthwise.apply(x, weight, stride, padding)  # type: ignore[no-untyped-call]
        return result
    return F.conv2d(x, weight, None, stride, padding, 1, len(weight))


class WideDepthwiseConv(nn.Conv2d):
    """A depthwise convolution that learns quickly on a CPU; its results are the same."""

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of (B,C,H,W)."""
        if self.bias is not None:  # one into which a BatchNorm was folded does not learn any more
            return super().forward(x)
        assert not isinstance(self.padding, str)
        return depthwise(x, self.weight, self.stride[0], (self.padding[0], self.padding[1]))


class _Depthwise(torch.autograd.Function):
    """The gradient of a weight is itself a depthwise convolution: of each channel of each image
    with the gradient of its result as the kernel, spread out by the stride, summed over images."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        x: Tensor,
        weight: Tensor,
        stride: int,
        padding: tuple[int, int],
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.stride, ctx.padding = stride, padding
        return F.conv2d(x, weight, None, stride, padding, 1, len(weight))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        x, weight = ctx.saved_tensors
        of_x = of_weight = None
        if ctx.needs_input_grad[0]:
            stride, padding = [ctx.stride] * 2, list(ctx.padding)
            about = (None, stride, padding, [1, 1], False, [0, 0], len(weight))
            of_inputs = torch.ops.aten.convolution_backward
            of_x = of_inputs(gradient, x, weight, *about, [True, False, False])[0]
        if ctx.needs_input_grad[1]:
            batch, channels, height, width = x.shape
            maps = x.contiguous().view(1, batch * channels, height, width)
            kernels = gradient.contiguous().view(batch * channels, 1, *gradient.shape[-2:])
            taps = F.conv2d(maps, kernels, None, 1, ctx.padding, ctx.stride, batch * channels)
            rows, columns = weight.shape[-2:]
            taps = taps[:, :, :rows, :columns].reshape(batch, channels, 1, rows, columns)
            of_weight = taps.sum(0)
        return of_x, of_weight, None, None
