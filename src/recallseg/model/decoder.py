"""What every decoder D has in common: a neck, and channels that grow with the classes."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recallseg.labels import BACKGROUND
from recallseg.model.cpu.pointwise import PointwiseConv, pointwise
from recallseg.model.geometry import side_by_side, to_finer
from recallseg.model.tail import Tail

Growth = Literal["random", "background", "similar"]
"""How channels of new classes start. `similar` is random until `Decoder.start_as` is told more."""


def scaled_dilations(
    stride: int, rates: Sequence[int] = (6, 12, 18, 24), rates_at: int = 8
) -> tuple[int, ...]:
    """Dilations that cover as many pixels at a stride as `rates` do at `rates_at`."""
    return tuple(max(1, rate * rates_at // stride) for rate in rates)


class GrowingConv(nn.Conv2d):
    """A convolution with bias that keeps the size of its input and can gain channels."""

    bias: nn.Parameter

    def __init__(self, channels: int, classes: int, side: int = 3, dilation: int = 1) -> None:
        super().__init__(channels, classes, side, padding=side // 2 * dilation, dilation=dilation)

    def append(self, weight: Tensor, bias: Tensor) -> None:
        """Add output channels at the end; dtype, device and `requires_grad` stay."""
        for name, extra in (("weight", weight), ("bias", bias)):
            old = getattr(self, name)
            grown = nn.Parameter(torch.cat([old, extra]), requires_grad=old.requires_grad)
            setattr(self, name, grown)
        self.out_channels += len(bias)


def _side_by_side_through(conv: nn.Conv2d, maps: Sequence[Tensor]) -> Tensor:
    """What a 1×1 convolution makes of maps side by side, the finest first.

    Each map goes through its part of the weights at its own size and is made finer then. It comes
    to the same and is less to do, but how a small map is rounded depends on how many photos there
    are, so that it is for learning.
    """
    parts = torch.split(conv.weight, [each.shape[1] for each in maps], dim=1)
    size = (maps[0].shape[-2], maps[0].shape[-1])
    result = pointwise(maps[0], parts[0], conv.bias)
    for each, part in zip(maps[1:], parts[1:], strict=True):
        result = result + to_finer(pointwise(each, part), size)
    return result


class Decoder(nn.Module, ABC):
    """From features to logits of the classes learned so far, the background first.

    A `neck` brings the features of several stages to that many channels first (1×1 and ReLU). It
    belongs to the decoder and goes on learning with it: frozen with the encoder after step 0, it
    would keep later classes from what the stages know of them. So does a `tail`, the last stages
    of the network, if there is one.
    """

    rates: ClassVar[tuple[int, ...]]
    """Dilations of its parallel convolutions at the stride `rates_at`."""
    rates_at: ClassVar[int]

    def __init__(
        self, channels: int, neck: int | None, init_std: float, tail: Tail | None = None
    ) -> None:
        super().__init__()
        self.init_std = init_std
        self.tail = tail
        seen = tail.channels if tail else channels
        self.neck = PointwiseConv(seen, neck, 1) if neck else None
        self.width = neck or seen
        """Channels that what follows the neck sees."""

    @abstractmethod
    def forward(self, features: Tensor) -> Tensor:
        """Logits (B,classes,h,w) of features (B,C,h,w)."""

    @abstractmethod
    def classifiers(self) -> list[GrowingConv]:
        """The convolutions with a channel per class, whose results are summed."""

    def plain(self, features: Tensor) -> Tensor:
        """The same logits in operations that every runtime has, for exports."""
        logits: Tensor = self(features)
        return logits

    @property
    def classes(self) -> int:
        """Number of output channels, background included."""
        return self.classifiers()[0].out_channels

    def set_tail_apart(self) -> None:
        """Let the tail stay as it is, and no longer be one of this decoder's weights: another
        decoder has the same."""
        if tail := self.tail:
            del self.tail
            object.__setattr__(self, "tail", tail.eval().requires_grad_(False))

    def all_weights(self) -> dict[str, Tensor]:
        """Weights and buffers, those of a tail that was set apart among them."""
        apart = {} if self.tail is None else self.tail.state_dict(prefix="tail.")
        return {**apart, **self.state_dict()}

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """A tail that was set apart moves to other devices too."""
        if self.tail is not None and "tail" not in self._modules:
            self.tail._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return super()._apply(fn, recurse)  # type: ignore[no-any-return, no-untyped-call]

    def narrowed(self, features: Tensor) -> Tensor:
        """What follows the neck sees of features: what tail and neck make of them, if they are."""
        maps = self.tail.maps(features) if self.tail else [features]
        if self.neck and torch.is_grad_enabled():
            return F.relu(_side_by_side_through(self.neck, maps))
        return F.relu(self.neck(side_by_side(maps))) if self.neck else side_by_side(maps)

    @torch.no_grad()
    def grow(self, n: int, init: Growth = "random") -> None:
        """Add `n` classes at the end; the old channels stay bit for bit.

        `background` starts the new classes as MiB does: with the background's weights, and with
        total biases of the new classes and of the background all equal to the background's old
        one minus log(n+1), so that together they are as probable as the background was. It is
        the only case that touches an old channel. The parameters are new objects: build the
        optimizer afterwards.
        """
        convs = self.classifiers()
        share = math.log(n + 1) / len(convs)
        for conv in convs:
            if init == "background":
                conv.bias[BACKGROUND] -= share
                weight = conv.weight[[BACKGROUND]].repeat(n, 1, 1, 1)
                bias = conv.bias[[BACKGROUND]].repeat(n)
            else:
                weight = conv.weight.new_empty(n, *conv.weight.shape[1:])
                nn.init.normal_(weight, std=self.init_std)
                bias = conv.bias.new_zeros(n)
            conv.append(weight, bias)

    @torch.no_grad()
    def start_as(self, sources: Mapping[int, int]) -> None:
        """Let channels begin with the weights of others: `sources` has theirs by the channel."""
        for conv in self.classifiers():
            for channel, source in sources.items():
                conv.weight[channel] = conv.weight[source]
                conv.bias[channel] = conv.bias[source]

    def _start_classifiers(self) -> None:
        """Small random weights and no bias, as new classes start later."""
        for conv in self.classifiers():
            nn.init.normal_(conv.weight, std=self.init_std)
            nn.init.zeros_(conv.bias)
