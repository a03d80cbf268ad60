"""Trainers that stand in for the training loop of a run, and watch it or stop it."""

from functools import partial

import pytest

from recallseg.engine.runner import run
from recallseg.engine.training.loop import train


def watched():
    """By name, the first batch of every training that the second value, a `run`, begins."""
    seen = {}

    def trainer(session, training, model, stream, loss, memory=None):
        seen[training.name] = stream.batch(0)
        train(session, training, model, stream, loss, memory)

    return seen, partial(run, trainer=trainer)


def no_training(*_):
    """A trainer for runs that have nothing to train."""
    pytest.fail("trained")


def interrupted(name, iteration):
    """A trainer that ends in an error after some iterations of a training, as a kill would."""

    def trainer(session, training, model, stream, loss, memory=None):
        losses = iter(range(10**6))

        def stopped(model, batch):
            if training.name == name and next(losses) == iteration:
                raise KeyboardInterrupt
            return loss(model, batch)

        train(session, training, model, stream, stopped, memory)

    return trainer
