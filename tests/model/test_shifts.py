"""Sums of dilated convolutions as one product."""

import pytest
import torch
import torch.nn.functional as F

from recallseg.model.cpu.pointwise import MANY
from recallseg.model.cpu.shifts import sum_of_shifted


def taps_of(weight, dilation):
    return [
        (((row - 1) * dilation, (column - 1) * dilation), weight[..., row, column])
        for row in range(3)
        for column in range(3)
    ]


@pytest.mark.parametrize("photos", [1, 3, MANY])
@pytest.mark.parametrize("size", [(6, 9), (1, 1), (2, 7)])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_results_and_gradients_are_those_of_dilated_convolutions(photos, size, layout):
    torch.manual_seed(0)
    x = torch.randn(photos, 5, *size).to(memory_format=layout).requires_grad_()
    weights = [torch.randn(4, 5, 3, 3, requires_grad=True) for _ in range(3)]
    dilations = (1, 2, 5)
    pairs = list(zip(weights, dilations, strict=True))
    ours = sum_of_shifted(x, [tap for pair in pairs for tap in taps_of(*pair)])
    reference = sum(F.conv2d(x, weight, padding=each, dilation=each) for weight, each in pairs)
    torch.testing.assert_close(ours, reference)
    towards = torch.randn_like(reference)
    for gradient, expected in zip(
        torch.autograd.grad(ours, [x, *weights], towards),
        torch.autograd.grad(reference, [x, *weights], towards),
        strict=True,
    ):
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-4)


def test_shifts_are_rows_and_columns_to_the_cell_that_is_seen():
    x = torch.arange(12.0).reshape(1, 1, 3, 4)
    seen = sum_of_shifted(x, [((1, -2), torch.ones(1, 1))])
    assert torch.equal(seen[0, 0], torch.tensor([[0.0, 0, 4, 5], [0, 0, 8, 9], [0, 0, 0, 0]]))


def test_taps_that_see_the_same_cell_are_one_and_those_that_see_nothing_none(monkeypatch):
    counted, convolve = [], F.conv2d

    def counting(x, weight, **settings):
        counted.append(len(weight))
        return convolve(x, weight, **settings)

    monkeypatch.setattr("recallseg.model.cpu.shifts.F.conv2d", counting)
    x, one = torch.ones(1, 1, 2, 2), torch.ones(1, 1)
    seen = sum_of_shifted(x, [((0, 0), one), ((0, 0), one), ((0, 2), one), ((0, 1), one)])
    assert counted == [2]
    assert torch.equal(seen[0, 0], torch.tensor([[3.0, 2.0], [3.0, 2.0]]))


def test_only_what_learns_gets_a_gradient():
    x, weight = torch.randn(2, 3, 4, 4), torch.randn(2, 3, requires_grad=True)
    sum_of_shifted(x, [((0, 1), weight)]).sum().backward()
    assert x.grad is None
    assert weight.grad is not None
    x.requires_grad_()
    sum_of_shifted(x, [((0, 1), weight.detach())]).sum().backward()
    assert x.grad is not None
