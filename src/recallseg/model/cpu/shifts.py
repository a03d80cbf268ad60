"""Sums of dilated convolutions on a CPU, forward and backward, as one 1×1 convolution each way.

A tap of a convolution is a 1×1 convolution whose result is moved. One product serves the taps of
all convolutions; what a tap adds to the result is the part of the map that it does not move out
of it. Results lie in memory with their channels last, so that all that is moved is whole cells.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from recallseg.model.cpu.pointwise import dilation_for

Shift = tuple[int, int]
"""Rows and columns from a cell of the result to the cell that a tap sees."""


def sum_of_shifted(features: Tensor, taps: Sequence[tuple[Shift, Tensor]]) -> Tensor:
    """(B,K,h,w): Σ over taps of the map (B,C,h,w) times a tap's weights (K,C), moved by its shift.

    Cells outside of the map count as zero.
    """
    height, width = features.shape[-2:]
    weights: dict[Shift, list[Tensor]] = {}
    for shift, weight in taps:
        if abs(shift[0]) < height and abs(shift[1]) < width:
            weights.setdefault(shift, []).append(weight)
    together = [torch.stack(same).sum(0) if same[1:] else same[0] for same in weights.values()]
    products = torch.cat(together)[..., None, None]
    about = (tuple(weights), dilation_for(features))
    result: Tensor = _Shifted.apply(features, products, *about)  # type: ignore[no-untyped-call]
    return result


class _Shifted(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        features: Tensor,
        weights: Tensor,
        shifts: tuple[Shift, ...],
        dilation: int,
    ) -> Tensor:
        features = features.contiguous(memory_format=torch.channels_last)
        products = _by_cells(F.conv2d(features, weights, dilation=dilation), len(shifts))
        result = torch.zeros_like(products[..., 0, :])
        for tap, (there, seen) in enumerate(_parts(shifts, features)):
            result[there] += products[..., tap, :][seen]
        ctx.save_for_backward(features, weights)
        ctx.shifts, ctx.dilation = shifts, dilation
        return result.permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        features, weights = ctx.saved_tensors
        of_result = _by_cells(gradient, 1)[..., 0, :]
        batch, height, width, classes = of_result.shape
        of_products = of_result.new_zeros(batch, height, width, len(ctx.shifts), classes)
        for tap, (there, seen) in enumerate(_parts(ctx.shifts, features)):
            of_products[..., tap, :][seen] = of_result[there]
        of_features, of_weights, _ = torch.ops.aten.convolution_backward(
            of_products.flatten(3).permute(0, 3, 1, 2),
            features,
            weights,
            *(None, [1, 1], [0, 0], [ctx.dilation] * 2, False, [0, 0], 1),
            [*ctx.needs_input_grad[:2], False],
        )
        return of_features, of_weights, None, None


def _by_cells(maps: Tensor, taps: int) -> Tensor:
    """Maps (B,taps·K,h,w) as (B,h,w,taps,K), one cell after the other in memory."""
    cells = maps.permute(0, 2, 3, 1).contiguous()
    return cells.view(*cells.shape[:3], taps, -1)


Part = tuple[slice, slice, slice]


def _parts(shifts: Sequence[Shift], features: Tensor) -> list[tuple[Part, Part]]:
    """Which cells of the result (B,h,w,…) each tap adds to, and which of the map it sees there."""
    height, width = features.shape[-2:]
    sides = ((_along(down, height), _along(right, width)) for down, right in shifts)
    return [
        ((slice(None), rows, columns), (slice(None), seen_rows, seen_columns))
        for (rows, seen_rows), (columns, seen_columns) in sides
    ]


def _along(shift: int, length: int) -> tuple[slice, slice]:
    start, end = max(0, -shift), min(length, length - shift)
    return slice(start, end), slice(start + shift, end + shift)
