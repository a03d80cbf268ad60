"""Wide depthwise convolutions and their gradients."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from recallseg.model.cpu.depthwise import WideDepthwiseConv, depthwise, is_wide_depthwise
from recallseg.model.tail import Tail


@pytest.mark.parametrize(
    ("size", "side", "stride", "padding"),
    [
        ((7, 7), 5, 1, (2, 2)),
        ((17, 12), 5, 2, (0, 0)),
        ((9, 11), 7, 3, (1, 3)),
        ((6, 8), 5, 2, (2, 2)),
    ],
)
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_results_and_gradients_are_those_of_pytorch(size, side, stride, padding, layout):
    torch.manual_seed(0)
    x = torch.randn(3, 4, *size).to(memory_format=layout).requires_grad_()
    weight = torch.randn(4, 1, side, side, requires_grad=True)
    ours = depthwise(x, weight, stride, padding)
    reference = F.conv2d(x, weight, None, stride, padding, 1, 4)
    assert torch.equal(ours, reference)
    towards = torch.randn_like(reference)
    expected = torch.autograd.grad(reference, [x, weight], towards)
    for gradient, of_pytorch in zip(
        torch.autograd.grad(ours, [x, weight], towards), expected, strict=True
    ):
        torch.testing.assert_close(gradient, of_pytorch)


def test_only_weights_that_learn_get_a_gradient():
    x, weight = torch.randn(2, 3, 6, 6, requires_grad=True), torch.randn(3, 1, 5, 5)
    depthwise(x, weight.requires_grad_(False), 1, (2, 2)).sum().backward()
    assert x.grad is not None
    assert weight.grad is None


def test_mixed_precision_is_left_to_pytorch():
    x, weight = torch.randn(2, 3, 6, 6), torch.randn(3, 1, 5, 5, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16):
        result = depthwise(x, weight, 1, (2, 2))
    result.float().sum().backward()
    assert result.dtype == torch.float16
    assert weight.grad.dtype == torch.float32


def test_the_tail_of_efficientnet_has_them():
    torch.manual_seed(0)
    tail = Tail("efficientnet_lite0", output_stride=32, finest=16, weights="none")
    found = [module for module in tail.modules() if is_wide_depthwise(module)]
    assert sum(isinstance(module, WideDepthwiseConv) for module in found) == 3
    features = torch.randn(2, 112, 6, 6)
    tail(features).square().sum().backward()
    ours = [module.weight.grad.clone() for module in found]
    tail.zero_grad()
    for module in found:
        if isinstance(module, WideDepthwiseConv):
            module.__class__ = nn.Conv2d
    tail(features).square().sum().backward()
    for module, gradient in zip(found, ours, strict=True):
        torch.testing.assert_close(gradient, module.weight.grad, rtol=1e-3, atol=1e-3)
