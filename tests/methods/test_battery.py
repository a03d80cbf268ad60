"""One battery for every method: two later steps on drawn blocks."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny import tiny_config
from trainers import interrupted

from recallseg.config import dump_config, load_config
from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.methods import METHODS, Method, build_method

LATER = [name for name in METHODS if name != "joint"]
PUBLISHED = ["lwf", "lwf_mc", "ilt", "cil", "mib", "sdr"]
CASES = [*((name, False) for name in LATER), *((name, True) for name in PUBLISHED)]


@pytest.fixture
def data(drawn_voc, shared_cache):
    return drawn_voc


def config_of(data, method, train_encoder, **changes):
    settings = {"method__name": method, "method__train_encoder": train_encoder}
    rate = 0.005
    if method == "lwf_mc":  # sums over channels, and would diverge
        rate, settings["optim__lr"] = 0.0005, 0.005
    steady = {"lr": rate, "end_lr": rate / 5, "batch": 4, "iterations_per_class": 10}
    return tiny_config(data, **settings | {"increment": steady} | changes)


def metrics(result):
    return [step["iou"] for step in result["steps"]]


@pytest.mark.parametrize(("method", "train_encoder"), CASES)
def test_two_steps(method, train_encoder, data, tmp_path):
    config = config_of(data, method, train_encoder)
    result = run(config, tmp_path / "run")
    assert len(result["steps"]) == 3

    journal = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    lines = [line for line in map(json.loads, journal) if line.get("phase") == "step 2"]
    losses = [line["loss"] for line in lines if "loss" in line]
    assert np.isfinite(losses).all()
    assert np.mean(losses[-4:]) < np.mean(losses[:4])

    encoders = list((tmp_path / "run").rglob("encoder.safetensors"))
    assert len(encoders) == (3 if train_encoder else 1)
    decoders = [load_file(tmp_path / f"run/step-{k}/decoder.safetensors") for k in range(3)]
    assert [len(weights["branches.0.bias"]) for weights in decoders] == [19, 20, 21]

    if train_encoder or method not in PUBLISHED:
        assert_goes_on(method, train_encoder, data, tmp_path, result)


def assert_goes_on(method, train_encoder, data, tmp_path, result):
    """An interrupted run ends like the one in `tmp_path / "run"`."""
    saved_often = config_of(data, method, train_encoder, checkpoint_seconds=0)
    with pytest.raises(KeyboardInterrupt):
        run(saved_often, tmp_path / "again", trainer=interrupted("step 2", 5))
    assert not (tmp_path / "again/step-2/decoder.safetensors").exists()
    assert metrics(run(saved_often, tmp_path / "again")) == metrics(result)
    memories = [list((tmp_path / name).rglob("method.safetensors")) for name in ("run", "again")]
    assert len(memories[0]) == (3 if (method, train_encoder) == ("sdr", True) else 0)
    for one, other in zip(*map(sorted, memories), strict=True):
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_configuration_survives_a_round_trip(method, data, tmp_path):
    config = config_of(data, method, False)
    (tmp_path / "again.yaml").write_text(dump_config(config))
    assert load_config(tmp_path / "again.yaml") == config


@pytest.mark.parametrize("method", METHODS)
def test_old_channels_survive_growth(method, data):
    from recallseg.model import DeepLabV2

    chosen = build_method(config_of(data, method, False).method)
    decoder = DeepLabV2(8, 3, dilations=(1, 2), init_std=1.0)
    before = {name: value.clone() for name, value in decoder.state_dict().items()}
    decoder.grow(2, chosen.growth)
    for name, value in decoder.state_dict().items():
        first = 1 if method == "mib" and name.endswith("bias") else 0
        assert torch.equal(value[first:3], before[name][first:])


def test_weights_are_checked(data):
    config = config_of(data, "mib", False, method__weights={"distillation": 100})
    assert build_method(config.method).weights == {"distillation": 100}
    config = config_of(data, "mib", False, method__weights={"magic": 1})
    with pytest.raises(RecallsegError, match=r"Unknown weight of 'mib' 'magic'\. Known: dist"):
        build_method(config.method)
    config = config_of(data, "ft", False, method__weights={"magic": 1})
    with pytest.raises(RecallsegError, match="'ft' has no weights"):
        build_method(config.method)


def test_a_method_of_ones_own_is_a_class_and_a_line(data, tmp_path, monkeypatch):
    class Lazy(Method):
        title = "Lazy"

        def loss(self, model, batch):
            return super().loss(model, batch) * 0

    monkeypatch.setitem(METHODS, "lazy", Lazy)
    run(config_of(data, "lazy", False), tmp_path / "run")
    before = load_file(tmp_path / "run/step-0/decoder.safetensors")
    after = load_file(tmp_path / "run/step-2/decoder.safetensors")
    difference = (after["branches.0.weight"][:19] - before["branches.0.weight"]).abs().max()
    assert difference < 1e-3
