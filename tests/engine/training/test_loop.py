"""A training that leaves the finite numbers is stopped before they are saved."""

import pytest
import torch
from lightning_fabric import Fabric
from torch import nn

from recallseg.config import OptimConfig, RunConfig
from recallseg.engine.session import Session
from recallseg.engine.training.loop import SAVED, Training, train
from recallseg.errors import RecallsegError
from recallseg.methods import Batch
from recallseg.model.finite import all_finite
from recallseg.reporter import Reporter


class OneWeight(nn.Module):
    """As much of a segmenter as the loop needs."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 2))

    def pretrained(self):
        return []

    def forward(self, values):
        return (self.weight * values).square().sum()


class Ones:
    """A stream of the same batch."""

    def batch(self, number, rank=0, world=1):
        return Batch(labels=torch.ones(1, 2, 2))


@pytest.fixture
def session(tmp_path):
    fabric = Fabric(accelerator="cpu", devices=1)
    return Session(RunConfig(checkpoint_seconds=0), fabric, Reporter(), tmp_path)


def loss_of(model, batch):
    return model(batch.labels)


def training(iterations=6, **changes):
    optim = OptimConfig(**{"lr": 0.01, "end_lr": 0.0, "momentum": 0.0} | changes)
    return Training("step 0", optim, iterations)


def test_a_wild_rate_stops_with_a_sentence(session):
    with pytest.raises(RecallsegError) as error:
        train(session, training(20, lr=1e30), OneWeight(), Ones(), loss_of)
    said = str(error.value)
    assert "step 0: the loss is not finite any more at iteration 1 of 20" in said
    assert "lower it (`lr` in optim" in said


def test_weights_that_are_lost_in_the_last_iteration_are_not_given_back(session):
    def sudden(model, batch):
        return model(batch.labels) * 1e30

    with pytest.raises(RecallsegError, match=r"the weights are not finite .* iteration 0 of 1"):
        train(session, training(1, lr=1e30), OneWeight(), Ones(), sudden)
    assert session.load(SAVED) is None


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_the_last_good_state_stays_and_is_gone_on_from(session, capsys, ema):
    calls = iter(range(100))

    def broken(model, batch):
        factor = float("nan") if next(calls) == 3 else 1.0
        return loss_of(model, batch) * factor

    with pytest.raises(RecallsegError, match="the loss is not finite any more at iteration 3 of 6"):
        train(session, training(ema=ema), OneWeight(), Ones(), broken)
    saved = session.load(SAVED)
    assert saved["iteration"] == 3
    assert all_finite(saved["model"].values())
    resumed, whole = OneWeight(), OneWeight()
    train(session, training(ema=ema), resumed, Ones(), loss_of)
    (session.state / SAVED).unlink()
    train(session, training(ema=ema), whole, Ones(), loss_of)
    assert torch.equal(resumed.weight, whole.weight)


def test_lost_weights_are_not_saved_over_a_good_state(session):
    def sudden(model, batch):
        value = loss_of(model, batch)
        model.weight.register_hook(
            lambda gradient: gradient * (session.load(SAVED) is None or 1e60)
        )
        return value

    with pytest.raises(RecallsegError, match=r"the weights are not finite .* iteration 1 of 6"):
        train(session, training(), OneWeight(), Ones(), sudden)
    assert session.load(SAVED)["iteration"] == 1
