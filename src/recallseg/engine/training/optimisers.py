"""Optimisers and their learning rates."""

import math

import torch

from recallseg.config import OptimConfig
from recallseg.model import Segmenter


def iterations_for(config: OptimConfig, classes: int, photos: int, setup: str) -> int:
    """How long to train for `classes` new ones (paper, sec. 6: a number of steps per class).

    With `epochs`, so many times over the `photos`; the last batch of an epoch counts as a whole.
    """
    if config.epochs:
        return config.epochs * math.ceil(photos / (config.batch * config.accumulate))
    factor = config.overlapped_factor if setup == "overlapped" else 1.0
    return round(config.iterations_per_class * classes * factor)


def learning_rate(config: OptimConfig, iteration: int, iterations: int) -> float:
    """Polynomial decay from `lr`, which reaches `end_lr` at the last iteration."""
    progress = iteration / max(1, iterations - 1)
    rate = config.end_lr + (config.lr - config.end_lr) * float((1 - progress) ** config.power)
    warmup = config.warmup * iterations
    return rate * min(1.0, (iteration + 1) / warmup) if warmup >= 1 else rate


def build_optimizer(model: Segmenter, config: OptimConfig) -> torch.optim.Optimizer:
    """SGD or AdamW over what is trainable; weight decay acts on weights with two or more axes,
    or on everything with `decay_all`.

    Every group carries `scale`, its learning rate as a multiple of the schedule's, and `delay`, the
    share of the training in which it does not move.
    """
    pretrained = {id(weight) for part in model.pretrained() for weight in part.parameters()}
    groups = []
    for is_old, scale, delay in (
        (True, config.encoder_lr_factor, config.encoder_delay),
        (False, 1.0, 0.0),
    ):
        part = [
            p for p in model.parameters() if p.requires_grad and (id(p) in pretrained) == is_old
        ]
        rest = config.weight_decay if config.decay_all else 0.0
        for is_weight, decay in ((True, config.weight_decay), (False, rest)):
            if chosen := [p for p in part if (p.ndim > 1) == is_weight]:
                about = {"weight_decay": decay, "scale": scale, "delay": delay}
                groups.append({"params": chosen, **about})
    if config.name == "adamw":
        return torch.optim.AdamW(groups, lr=config.lr, fused=True)
    return torch.optim.SGD(groups, lr=config.lr, momentum=config.momentum, nesterov=config.nesterov)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float, progress: float) -> None:
    """Give every group its share of the schedule's rate, once `progress` is past its delay."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["scale"] if progress >= group["delay"] else 0.0
