"""The paper's decoder: DeepLab-V2's classifier (Chen et al., TPAMI 2018)."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from recallseg.model.cpu import is_plain_on_cpu
from recallseg.model.cpu.shifts import sum_of_shifted
from recallseg.model.decoder import Decoder, GrowingConv
from recallseg.model.tail import Tail


class DeepLabV2(Decoder):
    """Parallel 3×3 convolutions with different dilations from features to classes, summed.

    `channels` are those of the features; `classes` counts the background, channel 0.
    """

    rates: ClassVar = (6, 12, 18, 24)
    rates_at: ClassVar = 8

    def __init__(
        self,
        channels: int,
        classes: int,
        *,
        dilations: tuple[int, ...],
        neck: int | None = None,
        tail: Tail | None = None,
        init_std: float = 0.01,
    ) -> None:
        super().__init__(channels, neck, init_std, tail)
        self.branches = nn.ModuleList(
            GrowingConv(self.width, classes, dilation=each) for each in dilations
        )
        self._start_classifiers()

    def forward(self, features: Tensor) -> Tensor:
        """Logits (B,classes,h,w) of features (B,C,h,w)."""
        narrow = self.narrowed(features)
        if is_plain_on_cpu(narrow, *(conv.weight for conv in self.classifiers())):
            return sum_of_dilated(narrow, self.classifiers())
        return self._one_by_one(narrow)

    def plain(self, features: Tensor) -> Tensor:
        """The same logits, by one convolution for each branch."""
        return self._one_by_one(self.narrowed(features))

    def _one_by_one(self, narrow: Tensor) -> Tensor:
        return torch.stack([branch(narrow) for branch in self.branches]).sum(dim=0)

    def classifiers(self) -> list[GrowingConv]:
        """Every branch."""
        return [module for module in self.branches if isinstance(module, GrowingConv)]


def sum_of_dilated(features: Tensor, convs: Sequence[GrowingConv]) -> Tensor:
    """The sum of dilated 3×3 convolutions (stride 1, "same" padding) of one map (B,C,h,w).

    Equal to calling each convolution, but for rounding.
    """
    taps = [
        ((row * conv.dilation[0], column * conv.dilation[1]), conv.weight[..., row + 1, column + 1])
        for conv in convs
        for row in (-1, 0, 1)
        for column in (-1, 0, 1)
    ]
    bias = torch.stack([conv.bias for conv in convs]).sum(0)
    return sum_of_shifted(features, taps) + bias[:, None, None]
