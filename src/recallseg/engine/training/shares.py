"""One batch on several cores: each of them takes a share of it, forward and backward.

The layers of a small network are too short to be split among cores: two of them were hardly faster
than one. With a share of the batch each they do not wait for each other before the end.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from recallseg.losses.together import Alone, sharing_batches
from recallseg.methods import Batch, can_be_shared
from recallseg.model import Segmenter
from recallseg.model.cores import keep_to_one_core

Loss = Callable[[Segmenter, Batch], Tensor]


def cores_to_share(model: nn.Module, loss: Loss) -> int:
    """How many cores can take a share of each batch; one if a loss, or a layer, has to see it as a
    whole."""
    if not can_be_shared(loss) or any(map(_sees_all, model.modules())):
        return 1
    return torch.get_num_threads()


def is_plain(fabric: Any) -> bool:  # noqa: ANN401
    """Whether a training is one process on a CPU, in full precision."""
    exact: bool = fabric.strategy.precision.precision == "32-true"
    return exact and fabric.device.type == "cpu" and fabric.world_size == 1


def _sees_all(layer: nn.Module) -> bool:
    """Whether what a layer does to a photo depends on the others, or on chance."""
    by_chance = isinstance(layer, nn.modules.dropout._DropoutNd) and layer.p > 0
    return layer.training and (by_chance or isinstance(layer, _BatchNorm))


class Shares:
    """Cores that share every batch of a training."""

    def __init__(self, model: Segmenter, loss: Loss, cores: int) -> None:
        self.model, self.loss, self.cores = model, loss, cores
        self.weights = [weight for weight in model.parameters() if weight.requires_grad]
        self.pool = ThreadPoolExecutor(max_workers=cores, initializer=keep_to_one_core)

    def backward(self, batch: Batch, weight: float = 1.0) -> float:
        """Add the gradients of the loss of a whole batch, times a weight, to the model's weights;
        the loss, times that weight.

        Gradients are summed in the order of the shares, so that they are the same every time.
        """
        parts = batch.split(self.cores)
        meeting = _Meeting(len(parts))
        works = [
            self.pool.submit(self._look, part, _Place(meeting, place))
            for place, part in enumerate(parts)
        ]
        errors = [error for work in works if (error := work.exception())]
        if errors:  # the first that is not about the others' errors
            raise min(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError))
        values, gradients = zip(*(work.result() for work in works), strict=True)
        share = weight / len(parts)
        for held, each in zip(self.weights, zip(*gradients, strict=True), strict=True):
            for gradient in each:
                if gradient is not None:
                    if held.grad is None:  # laid out in memory as the weight, as optimisers expect
                        held.grad = torch.zeros_like(held)
                    held.grad.add_(gradient, alpha=share)
        return float(share * sum(values))

    def _look(self, part: Batch, place: "_Place") -> tuple[float, tuple[Tensor | None, ...]]:
        try:
            with sharing_batches(place):
                value = self.loss(self.model, part)
            gradients = torch.autograd.grad(value, self.weights, allow_unused=True)
        except BaseException:
            place.meeting.barrier.abort()
            raise
        return float(value.detach()), gradients

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


class _Meeting:
    """Where the threads of a batch tell each other numbers."""

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count)
        self.told: list[Tensor | None] = [None] * count


class _Place(Alone):
    """One thread's place in the meeting: what losses ask for sums over the whole batch."""

    def __init__(self, meeting: _Meeting, place: int) -> None:
        self.meeting, self.place, self.count = meeting, place, len(meeting.told)

    def total(self, values: Tensor) -> Tensor:
        """The sum over all shares; no gradients flow through it."""
        assert not values.requires_grad
        self.meeting.told[self.place] = values
        self.meeting.barrier.wait()
        total = torch.stack([each for each in self.meeting.told if each is not None]).sum(0)
        self.meeting.barrier.wait()
        return total
