import torch
from safetensors.torch import load_file
from tiny import tiny_config

from recallseg.engine.runner import run
from recallseg.methods.sdr import Prototypes


def test_prototypes_are_the_mean_of_everything_seen():
    kept = Prototypes()
    kept.make_room(2, 3)
    kept.add(torch.tensor([[1.0, 1, 1], [0, 0, 0]]), torch.tensor([1, 0]))
    kept.add(torch.tensor([[4.0, 1, 1], [2, 2, 2]]), torch.tensor([2, 5]))
    assert kept.means.tolist() == [[3, 1, 1], [2, 2, 2]]
    kept.make_room(3, 3)
    assert kept.known.tolist() == [True, True, False]


def test_prototypes_are_kept_with_every_step(tmp_path):
    settings = {"method__train_encoder": True, "model__output_stride": 8}
    config = tiny_config(tmp_path / "voc", method__name="sdr", **settings)
    run(config, tmp_path / "run")
    kept = [load_file(tmp_path / f"run/step-{k}/method.safetensors") for k in range(3)]
    assert [len(each["counts"]) for each in kept] == [19, 20, 21]
    assert all(each["counts"].gt(0).all() for each in kept)
    background = [each["means"][0] for each in kept]
    assert not torch.equal(background[0], background[2])


def test_a_frozen_encoder_needs_none(tmp_path):
    run(tiny_config(tmp_path / "voc", method__name="sdr"), tmp_path / "run")
    assert not list((tmp_path / "run").rglob("method.safetensors"))
