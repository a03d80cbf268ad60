from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny import tiny_config

from recallseg.config import MethodConfig, load_config
from recallseg.engine.runner import run
from recallseg.losses.prototypes import at_cells, class_means
from recallseg.methods import Batch, build_method
from recallseg.methods.sdr import Prototypes
from recallseg.model import DeepLabV2, Encoder, Segmenter
from recallseg.scenario import Step

CONFIGS = Path(__file__).parents[2] / "configs"


def test_prototypes_are_the_mean_of_everything_seen():
    kept = Prototypes()
    kept.make_room(2, 3)
    kept.add(torch.tensor([[1.0, 1, 1], [0, 0, 0]]), torch.tensor([1, 0]))
    kept.add(torch.tensor([[4.0, 1, 1], [2, 2, 2]]), torch.tensor([2, 5]))
    assert kept.means.tolist() == [[3, 1, 1], [2, 2, 2]]
    kept.make_room(3, 3)
    assert kept.known.tolist() == [True, True, False]


def test_prototypes_are_kept_as_the_step_of_their_class_left_them(tmp_path):
    settings = {"method__train_encoder": True, "model__output_stride": 8}
    config = tiny_config(tmp_path / "voc", method__name="sdr", **settings)
    run(config, tmp_path / "run")
    kept = [load_file(tmp_path / f"run/step-{k}/method.safetensors") for k in range(3)]
    assert [len(each["counts"]) for each in kept] == [19, 20, 21]
    for each in kept:
        assert each["counts"].tolist()[0] == 0
        assert each["counts"][1:].gt(0).all()
    for before, after in pairwise(kept):
        classes = len(before["counts"])
        for part in ("means", "counts"):
            assert torch.equal(after[part][:classes], before[part])


def build(**settings):
    """SDR at step 1 of 2-1, whose previous model sees class 1 everywhere."""
    config = MethodConfig(name="sdr", train_encoder=True, **settings)
    encoder = Encoder("mobilenetv2_035", weights="none")
    old, new = (Segmenter(encoder, DeepLabV2(encoder.channels, n, dilations=(1,))) for n in (3, 4))
    old.decoder.branches[0].bias.data[1] = 9
    return build_method(config), new.eval(), old.eval()


def losses_by_prototype(visible):
    """The loss of a photo that is labelled background, as one class's prototype moves."""
    method, model, previous = build()
    method.begin(Step(1, (3,), (1, 2), (), visible), model, previous)
    batch = Batch(torch.zeros(1, 32, 32, dtype=torch.uint8), photos=torch.rand(1, 3, 32, 32))
    method.memory.counts[:] = 1
    values = []
    for label in (None, 0, 1, 2, 3):
        method.memory.means[:] = 0
        if label is not None:
            method.memory.means[label] = 100
        values.append(method.loss(model, batch).item())
    return [value != values[0] for value in values[1:]]


def test_only_old_classes_that_the_previous_model_sees_are_matched():
    assert losses_by_prototype(visible=False) == [False, True, False, False]


def test_a_background_that_is_true_is_not_taken_for_old_classes():
    assert losses_by_prototype(visible=True) == [False] * 4


def test_only_the_classes_of_the_step_move_their_prototypes():
    method, model, previous = build()
    method.begin(Step(1, (3,), (1, 2), ()), model, previous)
    method.memory.means[:] = 7
    labels = torch.zeros(1, 32, 32, dtype=torch.uint8)
    labels[:, :, :16] = 3
    batch = Batch(labels, photos=torch.rand(1, 3, 32, 32))
    features = model(batch.photos).features
    seen = at_cells(labels, features.shape[-2:], model.encoder.stride)
    means, counts = class_means(features, seen, 4)
    for visits in (1, 2):
        method.loss(model, batch)
        assert method.memory.counts.tolist() == [0, 0, 0, visits * counts[3]]
        assert method.memory.means[:3].eq(7).all()
        torch.testing.assert_close(method.memory.means[3], means[3])


def test_new_classes_start_at_random_unless_asked_otherwise():
    assert build()[0].growth == "random"
    assert build(growth="background")[0].growth == "background"


@pytest.mark.parametrize("data", ["voc", "voc-mini", "toy"])
@pytest.mark.parametrize("spec", ["19-1", "15-5", "15-1", "10-1"])
def test_distillation_weighs_the_same_at_every_split(data, spec):
    config = load_config(CONFIGS / data / "sdr.yaml", [f"scenario.spec={spec}"])
    assert build_method(config.method).weights["distillation"] == 100


def test_a_frozen_encoder_needs_none(tmp_path):
    run(tiny_config(tmp_path / "voc", method__name="sdr"), tmp_path / "run")
    assert not list((tmp_path / "run").rglob("method.safetensors"))
