import pytest
import torch

from recallseg.config import OptimConfig
from recallseg.engine.training.optimisers import (
    build_optimizer,
    iterations_for,
    learning_rate,
    set_learning_rate,
)
from recallseg.model import DeepLabV2, Encoder, Segmenter
from recallseg.model.average import MovingAverage


@pytest.fixture(scope="module")
def model():
    encoder = Encoder("resnet18", weights="none", finest=8)
    return Segmenter(encoder, DeepLabV2(encoder.channels, 3, dilations=(1, 2), neck=4))


def test_the_rate_starts_at_lr_and_reaches_its_end():
    config = OptimConfig(lr=5e-4, end_lr=5e-6)
    rates = [learning_rate(config, i, 101) for i in range(101)]
    assert rates[0] == pytest.approx(5e-4)
    assert rates[-1] == pytest.approx(5e-6)
    assert rates[50] == pytest.approx(5e-6 + 4.95e-4 * 0.5**0.9)
    assert rates == sorted(rates, reverse=True)
    assert learning_rate(config, 0, 1) == pytest.approx(5e-4)


def test_warming_up_rises_linearly():
    config = OptimConfig(lr=1.0, end_lr=1.0, warmup=0.1)
    assert [learning_rate(config, i, 100) for i in (0, 4, 9, 10, 50)] == [0.1, 0.5, 1, 1, 1]


def test_iterations_follow_classes_and_setup():
    config = OptimConfig(iterations_per_class=1000, overlapped_factor=1.5)
    assert iterations_for(config, 15, 8437, "disjoint") == 15_000
    assert iterations_for(config, 5, 2145, "overlapped") == 7_500
    assert iterations_for(config, 20, 10_582, "joint") == 20_000


def test_epochs_win_over_classes():
    config = OptimConfig(epochs=30, batch=24, overlapped_factor=1.5)
    assert iterations_for(config, 15, 8437, "overlapped") == 30 * 352
    assert iterations_for(config, 1, 24, "disjoint") == 30
    halves = OptimConfig(epochs=30, batch=12, accumulate=2)
    assert iterations_for(halves, 1, 25, "disjoint") == 60


def test_nesterov_and_decay_on_everything(model):
    config = OptimConfig(nesterov=True, weight_decay=0.1, decay_all=True)
    groups = build_optimizer(model, config).param_groups
    assert all(group["nesterov"] and group["weight_decay"] == 0.1 for group in groups)
    assert not any(
        group["nesterov"] for group in build_optimizer(model, OptimConfig()).param_groups
    )


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_decay_is_on_weights_only_and_every_parameter_is_in_one_group(model, name):
    config = OptimConfig(name=name, weight_decay=0.1, encoder_lr_factor=0.5, encoder_delay=0.1)
    optimizer = build_optimizer(model, config)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            assert (parameter.ndim > 1) == (group["weight_decay"] > 0)
    grouped = [p for group in optimizer.param_groups for p in group["params"]]
    assert {id(p) for p in grouped} == {id(p) for p in model.parameters()}
    assert len(grouped) == len(list(model.parameters()))
    body = {id(p) for p in model.encoder.body.parameters()}
    for progress, encoder_rate in ((0.05, 0.0), (0.1, 0.1)):
        set_learning_rate(optimizer, 0.2, progress)
        for group in optimizer.param_groups:
            rate = encoder_rate if id(group["params"][0]) in body else 0.2
            assert group["lr"] == rate


def test_a_frozen_encoder_is_not_optimised():
    encoder = Encoder("resnet18", weights="none").freeze()
    frozen = Segmenter(encoder, DeepLabV2(encoder.channels, 2, dilations=(1,)))
    grouped = [p for g in build_optimizer(frozen, OptimConfig()).param_groups for p in g["params"]]
    assert {id(p) for p in grouped} == {id(p) for p in frozen.decoder.parameters()}


def test_a_moving_average_by_hand():
    weight = torch.nn.Parameter(torch.tensor([0.0]))
    average = MovingAverage([weight], decay=0.5)
    weight.data.fill_(1.0)
    average.update(iteration=0)
    assert average.values[0].item() == pytest.approx(0.9)
    average.update(iteration=100)
    assert average.values[0].item() == pytest.approx(0.95)
    average.apply()
    assert weight.item() == pytest.approx(0.95)
