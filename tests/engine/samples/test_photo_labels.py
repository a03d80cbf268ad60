"""Labels of whole photos: the previous model looks once, and views cut its labels along."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny import tiny_config

from recallseg.data import open_dataset
from recallseg.data.decoding import read_mask
from recallseg.data.transforms import photo_tensor
from recallseg.engine.runner import run
from recallseg.files import cache_root
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder


@pytest.fixture
def finished(tmp_path):
    settings = {"method__name": "recall", "method__inpaint_on": "photos", "bank__enabled": False}
    config = tiny_config(tmp_path / "voc", **settings, method__void="inpaint")
    result = run(config, tmp_path / "run")
    return config, tmp_path / "run", result


def test_the_previous_model_fills_whole_photos(finished):
    config, folder, _ = finished
    train = open_dataset("voc", "train", config.data.root)
    previous, _ = open_model(RunFolder.existing(folder), 0)
    previous.eval()
    filled = sorted((cache_root() / "inpainted").iterdir())
    assert len(filled) == 2
    [labels] = [each for each in filled if read_mask(each / "00000.png").max() == 19]
    stems = [line.split('"')[3] for line in (labels / "labels.jsonl").read_text().splitlines()]
    assert stems == ["c190", "c191"]
    for number, stem in enumerate(stems):
        photo, truth = train.read(train.rows([stem])[0])
        with torch.no_grad():
            seen = previous(photo_tensor(photo)[None]).logits.argmax(dim=1)[0].numpy()
        written = read_mask(labels / f"{number:05}.png")
        assert written.shape == truth.shape
        assert (truth == 255).any()
        np.testing.assert_array_equal(written, np.where(truth == 19, 19, seen))


def test_without_keeping_features_no_label_of_a_photo_is_kept(tmp_path):
    settings = {"method__name": "recall", "method__inpaint_on": "photos", "bank__keep": False}
    run(tiny_config(tmp_path / "voc", **settings), tmp_path / "run")
    assert not list((cache_root() / "inpainted").iterdir())


def test_deeplab_v3_goes_through_every_step(tmp_path):
    changes = {"model__decoder": "deeplab_v3", "method__name": "mib", "method__train_encoder": True}
    epochs = {"lr": 0.005, "end_lr": 0, "batch": 4, "epochs": 2, "nesterov": True}
    config = tiny_config(
        tmp_path / "voc", **changes, increment=epochs, views__cut="stretched", views__scale=[0.5, 2]
    )
    result = run(config, tmp_path / "run")
    assert len(result["steps"]) == 3
    weights = [
        load_file(tmp_path / f"run/step-{k}/decoder.safetensors")["classifier.weight"]
        for k in range(3)
    ]
    assert [len(weight) for weight in weights] == [19, 20, 21]
    model, _ = open_model(RunFolder.existing(tmp_path / "run"))
    photo = torch.randint(0, 256, (1, 3, 37, 50), dtype=torch.uint8)
    assert model.eval()(photo).logits.shape == (1, 21, 37, 50)
    journal = map(json.loads, (tmp_path / "run/metrics.jsonl").read_text().splitlines())
    trained = [line for line in journal if line["phase"] == "step 1" and "iteration" in line]
    assert [line["iteration"] for line in trained] == [0, 1]
