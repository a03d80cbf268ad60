"""How many classes there can be."""

import json

import numpy as np
import pytest
from drawn import write_folder

from recallseg.data import open_dataset
from recallseg.data.folder import read_classes
from recallseg.errors import RecallsegError
from recallseg.labels import MOST_CLASSES, PADDING, VOID
from recallseg.scenario import PresenceTable, Scenario

MANY = [f"c{number}" for number in range(1, 300)]
SENTENCE = "254 classes besides the background; at most 253 fit"


def test_the_last_class_is_below_the_labels_that_are_none():
    assert MOST_CLASSES == 253
    assert min(PADDING, VOID) > MOST_CLASSES


def test_a_folder_may_name_as_many_and_no_more(tmp_path):
    root = write_folder(tmp_path, {"a": [1]}, MANY[:253])
    assert len(read_classes(root)) == 254
    (root / "classes.txt").write_text("\n".join(MANY[:254]))
    with pytest.raises(RecallsegError, match=SENTENCE):
        open_dataset("folder", "train", root)


def test_a_scenario_of_too_many_classes_is_refused():
    def scenario(count):
        holds = np.ones((1, count + 1), dtype=np.bool_)
        return Scenario(str(count), ["background", *MANY[:count]], PresenceTable(("a",), holds))

    assert scenario(253)[0].label_table[253] == 253
    with pytest.raises(RecallsegError, match=SENTENCE):
        scenario(254)
    with pytest.raises(RecallsegError, match="256 classes"):
        scenario(256)


def test_a_dataset_renamed_to_too_many_classes_is_refused(tmp_path):
    dataset = open_dataset("folder", "train", write_folder(tmp_path, {"a": [1]}, ["c1"]))
    with pytest.raises(RecallsegError, match=SENTENCE):
        dataset.renamed(["background", *MANY[:254]], other=0)


def test_a_model_does_not_grow_past_the_last_label(tmp_path):
    from recallseg.config import dump_config, load_preset
    from recallseg.engine.learn import learn

    model = tmp_path / "model"
    (model / "step-0").mkdir(parents=True)
    (model / "step-0/decoder.safetensors").touch()
    (model / "step-0/helper.safetensors").touch()
    (model / "config.yaml").write_text(dump_config(load_preset("learn")))
    about = {"format": 2, "initial": 253, "steps": [MANY[:253]]}
    about["channels"] = ["background", *MANY[:253]]
    (model / "classes.json").write_text(json.dumps(about))
    root = write_folder(tmp_path / "new", {f"p{number}": [1] for number in range(6)}, ["mug"])
    with pytest.raises(RecallsegError, match=f"With these, .*model has {SENTENCE}"):
        learn(model, root)
