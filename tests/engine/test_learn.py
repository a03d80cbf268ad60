import json
import shutil

import numpy as np
import pytest
from drawn import draw_pair, write_folder
from PIL import Image
from tiny import TINY, tiny_config

from recallseg.config import load_config
from recallseg.data import open_dataset
from recallseg.engine import learn_call
from recallseg.engine.learn import learn, rollback
from recallseg.engine.runner import run
from recallseg.engine.session.data import scenario_of
from recallseg.errors import RecallsegError
from recallseg.methods import METHODS, method_class
from recallseg.model import Encoder
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder


@pytest.fixture
def replay(tmp_path):
    """Drawn photos of every class, a folder each."""
    names = open_dataset("voc", "val", tiny_config(tmp_path / "voc").data.root).classes
    for label, name in enumerate(names):
        if label:
            own_photos(tmp_path, name, label)
    return tmp_path / "replay"


def own_photos(tmp_path, name, label):
    """A folder of replay photos, with three of a class more."""
    (tmp_path / "replay" / name).mkdir(parents=True)
    for number in range(3):
        photo, _ = draw_pair([label], size=(30, 26), seed=100 + number)
        photo.save(tmp_path / "replay" / name / f"{number}.png")
    return tmp_path / "replay"


SHIPPED_NETWORK = [
    word for word in TINY if word.partition("=")[0] not in ("model.neck", "model.tail")
]
SHIPPED_NETWORK += ["model.neck=8", "bank.replay_views=2"]
"""As small, with the last stages of the network in the decoders."""
FORGETTING = {"source": "none", "allow_forgetting": True}


def write_steps(tmp_path):
    """The benchmark's steps as folders of their own: photos and masks of each, nothing else."""
    config = tiny_config(tmp_path / "voc")
    scenario = scenario_of(config)
    train = open_dataset("voc", "train", config.data.root)
    folders = []
    for step in scenario:
        folder = tmp_path / f"data-{step.index}"
        names = scenario.names(step.new_classes)
        write_pairs(folder, train.subset(step.images), step.new_classes, names)
        folders.append(folder)
    val = open_dataset("voc", "val", config.data.root)
    write_pairs(tmp_path / "val", val, scenario.order, scenario.names(scenario.order))
    return folders


def write_pairs(folder, dataset, labels, names):
    for part in ("images", "masks"):
        (folder / part).mkdir(parents=True)
    (folder / "classes.txt").write_text("\n".join(names))
    (folder / "train.txt").write_text("\n".join(pair.stem for pair in dataset.pairs))
    table = np.zeros(256, dtype=np.uint8)
    table[255] = 255
    table[list(labels)] = range(1, 1 + len(labels))
    for row, pair in enumerate(dataset.pairs):
        photo, mask = dataset.read(row)
        photo.save(folder / "images" / f"{pair.stem}.png")
        Image.fromarray(table[mask]).save(folder / "masks" / f"{pair.stem}.png")


def small(folder, names, each=6):
    """A folder dataset with a few photos of each class."""
    members = {
        f"p{label}{number}": [label] for label in range(1, 1 + len(names)) for number in range(each)
    }
    return write_folder(folder, members, ["background", *names])


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(TINY, id="whole encoder", marks=pytest.mark.slow),
        pytest.param(SHIPPED_NETWORK, id="tail"),
    ],
)
def test_a_life_equals_the_benchmark(tmp_path, replay, monkeypatch, settings):
    """Step by step with the earlier photos deleted, the numbers are those of one run."""
    monkeypatch.setattr(learn_call, "HANDFUL", 1)
    folders = write_steps(tmp_path)
    model, options = tmp_path / "model", {"source": f"folder:{replay}", "val": tmp_path / "val"}
    for folder in folders:
        lived = learn(model, folder, overrides=settings, **options)
        shutil.rmtree(folder)

    config = load_config(model / "config.yaml")
    changes = {
        "data": config.data.model_copy(
            update={"name": "voc", "root": tmp_path / "voc", "val_root": None}
        ),
        "scenario": config.scenario.model_copy(update={"spec": "18-1"}),
    }
    benchmark = run(config.model_copy(update=changes), tmp_path / "benchmark")
    assert [step["miou"] for step in lived["steps"]] == [s["miou"] for s in benchmark["steps"]]
    for step in range(3):
        for part in ("decoder", "helper"):
            one = (model / f"step-{step}/{part}.safetensors").read_bytes()
            assert one == (tmp_path / f"benchmark/step-{step}/{part}.safetensors").read_bytes()
    known = json.loads((model / "classes.json").read_text())
    assert known["photos"] == [
        len(step.images) for step in scenario_of(tiny_config(tmp_path / "voc"))
    ]
    assert all(known["photo_bytes"])


def test_no_photo_of_a_step_is_encoded_twice(tmp_path, monkeypatch):
    seen, encode = [], Encoder.forward

    def watched(encoder, photos):
        seen.extend(photo.numpy().tobytes() for photo in photos if photo.any())
        return encode(encoder, photos)

    monkeypatch.setattr(Encoder, "forward", watched)
    monkeypatch.setattr(learn_call, "HANDFUL", 1)
    first, second = small(tmp_path / "a", ["cat"]), small(tmp_path / "b", ["dog"])
    options = {"source": f"folder:{own_photos(tmp_path, 'cat', 3)}", "overrides": SHIPPED_NETWORK}
    learn(tmp_path / "model", first, **options)
    assert len(seen) == len(set(seen)) == 6 * 2
    seen.clear()
    learn(tmp_path / "model", second, **options)
    looked_at_whole_for_the_filters = 3
    assert len(seen) == len(set(seen)) == (6 + 3) * 2 + looked_at_whole_for_the_filters


def test_a_stopped_step_leaves_the_old_model_and_can_go_on(tmp_path, monkeypatch):
    model = tmp_path / "model"
    learn(model, small(tmp_path / "a", ["cat", "dog"]), overrides=TINY)
    before = (model / "step-0/decoder.safetensors").read_bytes()

    method = RunFolder(model).config.method.name

    class Killed(method_class(method)):
        def loss(self, *_):
            raise KeyboardInterrupt

    small(tmp_path / "b", ["cow"])
    with monkeypatch.context() as patch:
        patch.setitem(METHODS, method, Killed)
        with pytest.raises(KeyboardInterrupt):
            learn(model, tmp_path / "b", **FORGETTING)
    found, step = open_model(RunFolder(model))
    assert (step, found.decoder.classes) == (0, 3)
    assert (model / "step-0/decoder.safetensors").read_bytes() == before

    with pytest.raises(RecallsegError, match=r"has not finished learning cow: .*rollback"):
        learn(model, small(tmp_path / "c", ["hen"]), **FORGETTING)
    learn(model, tmp_path / "b", **FORGETTING)
    found, step = open_model(RunFolder(model))
    assert (step, found.decoder.classes) == (1, 4)


def test_rollback_goes_back_and_the_life_goes_on(tmp_path):
    model = tmp_path / "model"
    for name, classes in {"a": ["cat", "dog"], "b": ["cow"], "c": ["hen"]}.items():
        learn(model, small(tmp_path / name, classes), **FORGETTING, overrides=TINY)
    first = (model / "step-1/decoder.safetensors").read_bytes()
    with pytest.raises(RecallsegError, match="has steps 0 to 2"):
        rollback(model, 3)
    assert rollback(model, 0) == ["cow", "hen"]
    assert RunFolder(model).finished_steps() == [0]
    assert json.loads((model / "classes.json").read_text())["channels"] == [
        "background",
        "cat",
        "dog",
    ]
    learn(model, tmp_path / "b", **FORGETTING)
    assert (model / "step-1/decoder.safetensors").read_bytes() == first


def test_new_classes_are_chosen_by_name(tmp_path):
    model = tmp_path / "model"
    learn(model, small(tmp_path / "a", ["cat", "dog"]), overrides=TINY)
    small(tmp_path / "b", ["dog", "cow"])
    with pytest.raises(RecallsegError, match="knows dog already; name the new classes"):
        learn(model, tmp_path / "b", **FORGETTING)
    learn(model, tmp_path / "b", classes=["cow"], **FORGETTING)
    known = json.loads((model / "classes.json").read_text())
    assert known["steps"] == [["cat", "dog"], ["cow"]]
    assert known["photos"] == [12, 6]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda root: (root / "classes.txt").write_text("cow\nhen"), "'hen' is seen in 0 of the 6"),
        (
            lambda root: [p.unlink() for p in [*root.rglob("p10.*"), *root.rglob("p11.*")]],
            "in 4 of",
        ),
        (lambda root: Image.new("L", (24, 20), 9).save(root / "masks/p10.png"), "the label 9"),
        (lambda root: (root / "masks/p10.png").unlink(), "has a photo but no mask"),
        (lambda root: (root / "classes.txt").write_text("../cow"), "no slashes"),
    ],
)
def test_bad_photos_are_told_before_anything_is_written(tmp_path, spoil, sentence):
    small(tmp_path / "a", ["cow"])
    spoil(tmp_path / "a")
    with pytest.raises(RecallsegError, match=sentence):
        learn(tmp_path / "model", tmp_path / "a", overrides=TINY)
    assert not (tmp_path / "model").exists()


def test_wrong_words_are_told(tmp_path):
    model, data = tmp_path / "model", small(tmp_path / "a", ["cow", "hen"])
    with pytest.raises(RecallsegError, match="'pictures' is not a source"):
        learn(model, data, source="pictures", overrides=TINY)
    with pytest.raises(RecallsegError, match="has no class 'ox'; it has cow, hen"):
        learn(model, data, classes=["ox"], overrides=TINY)
    with pytest.raises(RecallsegError, match="lacks classes of the model: hen"):
        learn(model, data, val=small(tmp_path / "val", ["cow"]), overrides=TINY)
    assert not model.exists()
    learn(model, data, overrides=TINY)
    with pytest.raises(RecallsegError, match="'model' cannot change"):
        learn(model, small(tmp_path / "b", ["ox"]), overrides=["model.neck=64"])
