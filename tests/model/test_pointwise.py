"""1×1 convolutions for few photos on one core."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile

from recallseg.model.cpu.pointwise import MANY, PointwiseConv, is_pointwise, pointwise
from recallseg.model.decoder import GrowingConv
from recallseg.model.deeplab_v2 import sum_of_dilated
from recallseg.model.tail import Tail

ONEDNN = "aten::mkldnn_convolution"


def kernels_of(work) -> set[str]:
    """The kernels of PyTorch that some work calls on one thread."""
    assert torch.get_num_threads() == 1
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        work()
    return {event.key for event in seen.key_averages()}


@pytest.mark.parametrize("photos", [1, 3, MANY - 1, MANY])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2)])
def test_results_and_gradients_are_those_of_pytorch(photos, stride):
    torch.manual_seed(0)
    x = torch.randn(photos, 6, 5, 4, requires_grad=True)
    weight, bias = torch.randn(3, 6, 1, 1, requires_grad=True), torch.randn(3, requires_grad=True)
    ours, reference = (
        pointwise(x, weight, bias, stride),
        F.conv2d(x, weight, bias, stride),
    )
    torch.testing.assert_close(ours, reference)
    towards = torch.randn_like(reference)
    learned = [x, weight, bias]
    for gradient, expected in zip(
        torch.autograd.grad(ours, learned, towards),
        torch.autograd.grad(reference, learned, towards),
        strict=True,
    ):
        torch.testing.assert_close(gradient, expected)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch has no oneDNN")
@pytest.mark.parametrize("photos", [2, MANY])
def test_onednn_computes_them_for_few_photos_too(photos, monkeypatch):
    torch.manual_seed(0)
    tail = Tail("efficientnet_lite0", output_stride=32, finest=16, weights="none").eval()
    classifiers = [GrowingConv(112, 3, dilation=each) for each in (1, 2)]
    features = torch.randn(photos, 112, 6, 6)

    def everything():
        tail(features)
        sum_of_dilated(features, classifiers)
        PointwiseConv(112, 4, 1)(features)

    plain = kernels_of(lambda: F.conv2d(features, torch.randn(4, 112, 1, 1)))
    assert (ONEDNN in plain) == (photos >= MANY)
    kernels = kernels_of(everything)
    assert ONEDNN in kernels
    assert "aten::thnn_conv2d" not in kernels


@torch.no_grad()
@pytest.mark.parametrize("channels", [320, 1152])
def test_a_photo_is_seen_alike_alone_and_with_others(channels):
    torch.manual_seed(0)
    conv = PointwiseConv(channels, 256, 1)
    features = torch.randn(5, channels, 7, 7).to(memory_format=torch.channels_last)
    alone = torch.cat([conv(features[[place]]) for place in range(5)])
    assert torch.equal(conv(features), alone)


def test_the_tail_of_efficientnet_has_them_and_they_keep_what_they_learned():
    torch.manual_seed(0)
    tail = Tail("efficientnet_lite0", output_stride=32, finest=16, weights="none").eval()
    found = [module for module in tail.modules() if isinstance(module, PointwiseConv)]
    assert len(found) == 10
    features = torch.randn(2, 112, 6, 6)
    ours = tail(features)
    for module in found:
        module.__class__ = nn.Conv2d
        assert is_pointwise(module)
    torch.testing.assert_close(tail(features), ours, rtol=1e-4, atol=1e-4)


def test_other_convolutions_are_left_alone():
    assert not is_pointwise(nn.Conv2d(4, 4, 3))
    assert not is_pointwise(nn.Conv2d(4, 4, 1, groups=2))
    assert not is_pointwise(nn.Conv2d(4, 4, 1, padding=1))


def test_exports_have_no_dilation():
    program = torch.export.export(PointwiseConv(4, 2, 1), (torch.randn(2, 4, 3, 3),))
    assert "[2, 2]" not in str(program.graph)
    assert "conv2d" in str(program.graph)
