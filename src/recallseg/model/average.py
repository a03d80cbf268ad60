"""A moving average of weights, which is often better than the weights themselves."""

from collections.abc import Iterable, Sequence

import torch
from torch import nn


class MovingAverage:
    """An exponential moving average of trainable weights; early on it forgets faster."""

    def __init__(self, parameters: Iterable[nn.Parameter], decay: float) -> None:
        self.decay = decay
        self.parameters = list(parameters)
        self.values = [parameter.detach().clone() for parameter in self.parameters]

    @torch.no_grad()
    def update(self, iteration: int) -> None:
        """Move the averages towards the present weights."""
        decay = min(self.decay, (1 + iteration) / (10 + iteration))
        torch._foreach_lerp_(self.values, [p.detach() for p in self.parameters], 1 - decay)

    def restore(self, values: Sequence[torch.Tensor]) -> None:
        """Take up averages that were saved."""
        self.values = [v.to(p.device) for v, p in zip(values, self.parameters, strict=True)]

    @torch.no_grad()
    def apply(self) -> None:
        """Put the averages in the place of the weights."""
        for parameter, value in zip(self.parameters, self.values, strict=True):
            parameter.copy_(value)
