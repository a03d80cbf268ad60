"""The only training loop of a segmenter; generators have their own in `gan/training`."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import nn

from recallseg.config import OptimConfig
from recallseg.engine.samples.streams import Stream
from recallseg.engine.session import Session
from recallseg.engine.training.optimisers import (
    build_optimizer,
    iterations_for,
    learning_rate,
    set_learning_rate,
)
from recallseg.engine.training.shares import Loss, Shares, cores_to_share, is_plain
from recallseg.errors import RecallsegError
from recallseg.files import content_key
from recallseg.methods import Batch
from recallseg.model import Segmenter
from recallseg.model.average import MovingAverage
from recallseg.model.cores import in_advance, in_turns
from recallseg.model.finite import all_finite, optimizer_tensors

SAVED = "training.pt"
"""In the state of a session: an unfinished training."""
JOURNAL_LINES = 50
"""Lines that one training adds to the journal, at most."""


@dataclass(frozen=True)
class Training:
    """One training: what it is called, how long it lasts, and how its weights move."""

    name: str
    optim: OptimConfig
    iterations: int
    data: str = ""
    """A hash of what is learned from."""

    @classmethod
    def of(cls, name: str, optim: OptimConfig, classes: int, photos: int, setup: str) -> "Training":
        """A training as long as a number of new classes, or of photos, asks for in a setup."""
        return cls(name, optim, iterations_for(optim, classes, photos, setup))

    def key(self, session: Session) -> str:
        """Tells the saved state of this training from any other's."""
        settings = self.optim.model_dump()
        return content_key(self.name, self.iterations, settings, session.config.seed, self.data)

    def check(self, finite: bool, what: str, iteration: int) -> None:
        """Stop a training whose numbers are not finite any more, before they are saved."""
        if not finite:
            rate = learning_rate(self.optim, iteration, self.iterations)
            raise RecallsegError(
                f"{self.name}: {what} not finite any more at iteration {iteration} of "
                f"{self.iterations}, where the learning rate is {rate:.2g}; lower it (`lr` in "
                "optim for step 0, increment for later steps, helper.optim for helpers). "
                "Nothing of this was saved."
            )


@dataclass
class State:
    """What an unfinished training must not lose."""

    model: Segmenter
    optimizer: torch.optim.Optimizer
    average: MovingAverage | None
    memory: nn.Module | None = None
    """What a method remembers besides the model."""

    def is_finite(self) -> bool:
        """Whether a training can go on from here."""
        averages = self.average.values if self.average else []
        weights = [*self.model.state_dict().values(), *averages]
        return all_finite([*weights, *optimizer_tensors(self.optimizer)])

    def save(self, session: Session, training: Training, iteration: int) -> None:
        """Keep everything, to go on with `iteration`."""
        values = {
            "key": training.key(session),
            "iteration": iteration,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average.values if self.average else None,
            "memory": self.memory.state_dict() if self.memory else None,
        }
        session.save(SAVED, values)

    def resume(self, session: Session, training: Training) -> int:
        """Take up what was kept of this very training; the iteration to go on with."""
        saved = session.load(SAVED)
        iteration = 0
        if saved and saved["key"] == training.key(session):
            self.model.load_state_dict(saved["model"])
            self.optimizer.load_state_dict(saved["optimizer"])
            if self.average:
                self.average.restore(saved["average"])
            if self.memory:
                self.memory.load_state_dict(saved["memory"])
            iteration = int(saved["iteration"])
            session.reporter.say(f"{training.name}: going on at iteration {iteration}")
        session.reporter.forget_after(training.name, iteration)
        return iteration


class Trainer(Protocol):
    """Whatever trains a model as `train` does."""

    def __call__(
        self,
        session: Session,
        training: Training,
        model: Segmenter,
        stream: Stream,
        loss: Loss,
        memory: nn.Module | None = None,
    ) -> None:
        """Minimise `loss` over the trainable weights of `model`."""
        ...


def train(
    session: Session,
    training: Training,
    model: Segmenter,
    stream: Stream,
    loss: Loss,
    memory: nn.Module | None = None,
) -> None:
    """Minimise `loss` over the trainable weights of `model`, going on from a saved state if any.

    `memory` is what the loss itself changes as it goes.
    """
    optim, fabric = training.optim, session.fabric
    wrapped, optimizer = fabric.setup(model, build_optimizer(model, optim))
    trainable = [p for p in model.parameters() if p.requires_grad]
    average = MovingAverage(trainable, optim.ema) if optim.ema else None
    state = State(model, optimizer, average, memory)
    start = state.resume(session, training)
    model.train()
    every = max(1, training.iterations // JOURNAL_LINES)
    saved = time.monotonic()
    batches = _batches(session, training, stream, start)
    with (
        session.reporter.phase(training.name, training.iterations, start) as phase,
        session.processes.sharing_batches(),
        _backward(fabric, wrapped, model, loss) as backward,
    ):
        for iteration in range(start, training.iterations):
            rate = learning_rate(optim, iteration, training.iterations)
            set_learning_rate(optimizer, rate, iteration / training.iterations)
            value = _step(optimizer, batches, backward, optim.accumulate)
            value = session.processes.mean(value)
            training.check(math.isfinite(value), "the loss is", iteration)
            if average:
                average.update(iteration)
            if iteration % every == 0 or iteration == training.iterations - 1:
                session.reporter.note(phase=training.name, iteration=iteration, loss=value, lr=rate)
            text = f"  loss {value:.3f}  lr {rate:.2g}"
            phase.advance(1, text, per_second=(optim.batch * optim.accumulate, "photos"))
            if time.monotonic() - saved > session.config.checkpoint_seconds:
                training.check(state.is_finite(), "the weights are", iteration)
                state.save(session, training, iteration + 1)
                saved = time.monotonic()
    if average:
        average.apply()
    finite = all_finite(model.state_dict().values())
    training.check(finite, "the weights are", training.iterations - 1)
    model.eval()


class Backward(Protocol):
    """Adds the gradients of a batch's loss, times a weight, to those of the weights."""

    def __call__(self, batch: Batch, weight: float, more: bool) -> float:
        """The loss, times its weight; `more` batches will follow before the optimiser's step."""
        ...


@contextmanager
def _backward(fabric: Any, wrapped: Any, model: Segmenter, loss: Loss) -> Iterator[Backward]:  # noqa: ANN401
    """Forward and backward, by all cores at once where each can take a share of a batch."""

    def whole(batch: Batch, weight: float, more: bool) -> float:
        with fabric.no_backward_sync(wrapped, enabled=more):
            value = loss(wrapped, fabric.to_device(batch)) * weight
            fabric.backward(value)
        return float(value.detach())

    cores = cores_to_share(model, loss) if is_plain(fabric) else 1
    if cores == 1:
        yield whole
        return
    shares = Shares(model, loss, cores)
    try:
        yield lambda batch, weight, more: shares.backward(batch, weight)
    finally:
        shares.close()


def _step(
    optimizer: torch.optim.Optimizer, batches: Iterator[Batch], backward: Backward, accumulate: int
) -> float:
    """One step of the optimiser over `accumulate` batches; the mean of their losses."""
    total = 0.0
    for part in range(accumulate):
        total += backward(next(batches), 1 / accumulate, more=part < accumulate - 1)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def _batches(session: Session, training: Training, stream: Stream, start: int) -> Iterator[Batch]:
    """This process's share of the batches from iteration `start` on, made ready in advance, or in
    turns with a training that needs the same cores."""
    rank, world = session.fabric.global_rank, session.fabric.world_size
    each = training.optim.accumulate
    numbers = range(start * each, training.iterations * each)
    ready = in_turns if session.fabric.device.type == "cpu" else in_advance
    return ready(lambda number: stream.batch(number, rank, world), numbers)
