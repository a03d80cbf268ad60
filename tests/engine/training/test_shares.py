"""A batch that several cores share is learned from as by one."""

import json
from copy import deepcopy

import pytest
import torch
from children import Child
from lightning_fabric import Fabric
from tiny import three_classes
from torch import nn

from recallseg.config import MethodConfig, validate
from recallseg.engine.runner import run
from recallseg.engine.training.shares import Shares, cores_to_share, is_plain
from recallseg.methods import METHODS, Batch, Method, build_method, can_be_shared, plain_loss
from recallseg.methods.ft import FineTuning
from recallseg.model.building import build_model
from recallseg.runs.folder import RunFolder

TRAININGS = ("optim", "increment")
SHARED = [name for name in METHODS if name != "sdr"]


@pytest.fixture
def model():
    torch.manual_seed(0)
    shape = {"encoder": "test_efficientnet", "output_stride": 16, "neck": 8, "weights": "none"}
    built = build_model(validate({"model": shape}, "the test").model, 4).train()
    built.encoder.freeze()
    return built


@pytest.fixture
def batch(model):
    features = torch.randn(5, *model.encoder.feature_shape(64))
    labels = torch.randint(0, 4, (5, 16, 16), dtype=torch.uint8)
    labels[:2] = 255  # the shares count differently
    labels[2, 3] = 1
    return Batch(labels, features=features, label_stride=4)


def method_of(name, model):
    method = build_method(MethodConfig(name=name, soft_labels=name == "recall"))
    method.previous = deepcopy(model).eval().requires_grad_(False)
    with torch.no_grad():
        for weight in method.previous.parameters():
            weight += 0.01 * torch.randn_like(weight)
    return method


def gradients(model):
    found = {name: w.grad for name, w in model.named_parameters() if w.grad is not None}
    model.zero_grad(set_to_none=True)
    return found


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("cores", [2, 3, 8])
def test_shares_give_the_gradients_of_the_whole_batch(name, cores, model, batch):
    method = method_of(name, model)
    whole = method.loss(model, batch)
    whole.backward()
    expected = gradients(model)
    shares = Shares(model, method.loss, cores)
    values, found = [], []
    for _ in range(2):
        values.append(shares.backward(batch, weight=0.5))
        found.append(gradients(model))
    shares.close()
    assert values[0] == values[1] == pytest.approx(whole.item() / 2, rel=1e-5)
    assert found[0].keys() == expected.keys()
    for key, gradient in expected.items():
        torch.testing.assert_close(2 * found[0][key], gradient, rtol=1e-3, atol=1e-6)
        assert found[0][key].equal(found[1][key])
        assert found[0][key].stride() == gradient.stride()


def test_gradients_of_several_batches_add_up(model, batch):
    shares = Shares(model, plain_loss, 2)
    shares.backward(batch)
    once = gradients(model)
    for _ in range(2):
        shares.backward(batch)
    for key, gradient in gradients(model).items():
        torch.testing.assert_close(gradient, 2 * once[key])
    shares.close()


def test_an_error_in_one_share_ends_the_others(model, batch):
    def loss(model, share):
        if (share.labels == 255).all():
            raise ValueError("nothing to see")
        return plain_loss(model, share)

    shares = Shares(model, loss, 5)
    with pytest.raises(ValueError, match="nothing to see"):
        shares.backward(batch)
    shares.close()


class Own(FineTuning):
    """A loss of one's own, of which nothing is known."""

    def loss(self, model, batch):
        return plain_loss(model, batch).mean()


def test_who_may_share(model, monkeypatch):
    fabric = Fabric(accelerator="cpu", devices=1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert cores_to_share(model, plain_loss) == 3
    assert cores_to_share(model, build_method(MethodConfig(name="ft")).loss) == 3
    for method in (Own(MethodConfig(name="ft")), build_method(MethodConfig(name="sdr"))):
        assert not can_be_shared(method.loss)
        assert cores_to_share(model, method.loss) == 1
    assert can_be_shared(Method.initial_loss)
    half = Fabric(accelerator="cpu", devices=1, precision="bf16-mixed")
    assert [is_plain(each) for each in (fabric, half)] == [True, False]
    for layer in (nn.BatchNorm2d(2), nn.Dropout(0.1)):
        assert cores_to_share(nn.Sequential(model, layer), plain_loss) == 1
        assert cores_to_share(nn.Sequential(model, layer.eval()), plain_loss) == 3


def losses_on(cores, config, folder):
    """Of a run with so many cores, in a child, so that this process can still fork."""

    def work():
        torch.set_num_threads(cores)
        run(config, folder)

    ended = Child((), {"RECALLSEG_CACHE": f"{folder}-cache"}, work=work).outcome()
    assert ended.code == 0, ended.err
    lines = map(json.loads, RunFolder(folder).journal.read_text().splitlines())
    return [line["loss"] for line in lines if "loss" in line]


def test_a_run_on_two_cores_learns_what_one_does_up_to_rounding(tmp_path):
    # A method without pseudo-labels: the least rounding can turn one of those into another.
    plain = {"method__name": "lwf", "replay__source": "none", "bank__views": 2}
    config = three_classes(tmp_path / "data", **plain)
    moving = {"name": "adamw", "lr": 1e-3}
    config = config.model_copy(
        update={part: getattr(config, part).model_copy(update=moving) for part in TRAININGS}
    )
    one = losses_on(1, config, tmp_path / "one")
    two, again = (losses_on(2, config, tmp_path / name) for name in ("two", "again"))
    assert two == again
    assert two != one
    assert two == pytest.approx(one, rel=0.02)
