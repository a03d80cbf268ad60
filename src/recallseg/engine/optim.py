"""Optimisers and their learning rates."""

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from recallseg.config import OptimConfig
from recallseg.model import Segmenter


def iterations_for(config: OptimConfig, classes: int, setup: str) -> int:
    """How long to train for `classes` new ones (paper, sec. 6: a number of steps per class)."""
    factor = config.overlapped_factor if setup == "overlapped" else 1.0
    return round(config.iterations_per_class * classes * factor)


def learning_rate(config: OptimConfig, iteration: int, iterations: int) -> float:
    """Polynomial decay from `lr`, which reaches `end_lr` at the last iteration."""
    progress = iteration / max(1, iterations - 1)
    rate = config.end_lr + (config.lr - config.end_lr) * float((1 - progress) ** config.power)
    warmup = config.warmup * iterations
    return rate * min(1.0, (iteration + 1) / warmup) if warmup >= 1 else rate


def build_optimizer(model: Segmenter, config: OptimConfig) -> torch.optim.Optimizer:
    """SGD or AdamW over what is trainable; weight decay acts on weights with two or more axes.

    Every group carries `scale`, its learning rate as a multiple of the schedule's, and `delay`, the
    share of the training in which it does not move.
    """
    pretrained = {id(parameter) for parameter in model.encoder.body.parameters()}
    groups = []
    for is_old, scale, delay in (
        (True, config.encoder_lr_factor, config.encoder_delay),
        (False, 1.0, 0.0),
    ):
        part = [
            p for p in model.parameters() if p.requires_grad and (id(p) in pretrained) == is_old
        ]
        for is_weight, decay in ((True, config.weight_decay), (False, 0.0)):
            if chosen := [p for p in part if (p.ndim > 1) == is_weight]:
                about = {"weight_decay": decay, "scale": scale, "delay": delay}
                groups.append({"params": chosen, **about})
    if config.name == "adamw":
        return torch.optim.AdamW(groups, lr=config.lr)
    return torch.optim.SGD(groups, lr=config.lr, momentum=config.momentum)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float, progress: float) -> None:
    """Give every group its share of the schedule's rate, once `progress` is past its delay."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["scale"] if progress >= group["delay"] else 0.0


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
