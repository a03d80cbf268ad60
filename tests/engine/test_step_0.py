"""Step 0 is trained once for all methods that train it alike."""

import json
import math

import pytest
from tiny import tiny_config

from recallseg.engine.runner import run
from recallseg.engine.session.data import RunData
from recallseg.engine.session.shared import step_0_key
from recallseg.engine.training.loop import train
from recallseg.methods import METHODS, Method, method_class, plain_loss


def noting(names):
    """A trainer that notes what it trains."""

    def trainer(session, training, *rest):
        names.append(training.name)
        train(session, training, *rest)

    return trainer


def config_of(folder, name, **changes):
    """A rate at which binary cross-entropies, summed over 19 channels, do not diverge."""
    return tiny_config(folder / "voc", method__name=name, optim__lr=0.005, **changes)


def first_loss(folder):
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return next(line["loss"] for line in lines if line.get("phase") == "step 0")


def test_methods_that_differ_later_share_it_and_lwf_mc_has_its_own(tmp_path):
    trained = []
    for name in ("ft", "mib", "lwf_mc"):
        run(config_of(tmp_path, name), tmp_path / name, trainer=noting(trained))
    own = ["step 0", "step 1", "step 2"]
    assert trained == [*own, "step 1", "step 2", *own]
    later = config_of(tmp_path, "lwf_mc", increment__lr=0.01)
    run(later, tmp_path / "later", trainer=noting(trained))
    assert trained[8:] == ["step 1", "step 2"]


def test_lwf_mc_asks_yes_or_no_from_the_first_iteration_on(tmp_path):
    """Before training, each of 19 channels is at even odds: 19·log 2, and log 19 for softmax."""
    for name, expected in {"ft": math.log(19), "lwf_mc": 19 * math.log(2)}.items():
        run(config_of(tmp_path, name, scenario__spec="18-2"), tmp_path / name)
        assert first_loss(tmp_path / name) == pytest.approx(expected, rel=0.1)


def test_the_key_differs_only_where_the_loss_does(tmp_path):
    class Later(Method):
        inpaints = True

    class Doubled(Method):
        @staticmethod
        def initial_loss(model, batch):
            return 2 * plain_loss(model, batch)

    config = tiny_config(tmp_path / "voc")
    data = RunData.open(config)

    def key(method):
        return step_0_key(config, data.scenario, data.train, method)

    shared = {key(method_class(name)) for name in METHODS if name != "lwf_mc"}
    assert shared == {key(Later)}
    assert len({*shared, key(method_class("lwf_mc")), key(Doubled)}) == 3


def test_joint_training_is_done_once_for_all_splits_and_setups(tmp_path):
    trained = []
    for place, spec in {"disjoint": "18-2", "overlapped": "15-5"}.items():
        task = {"scenario__spec": spec, "scenario__setup": place}
        run(config_of(tmp_path, "joint", **task), tmp_path / place, trainer=noting(trained))
    assert trained == ["step 0"]


def test_stored_views_count_where_step_0_learns_from_them(tmp_path):
    def key(**changes):
        config = tiny_config(tmp_path / "voc", model__neck=8, model__neck_stride=16, **changes)
        data = RunData.open(config)
        return step_0_key(config, data.scenario, data.train, Method)

    assert key(bank__views=2) == key(bank__views=3)
    assert key(bank__views=2, model__tail="decoder") != key(bank__views=3, model__tail="decoder")
