"""What a dataset's label 0 is: background, void, or void in evaluation only."""

import numpy as np
import pytest
import torch
from drawn import draw_pair, write_folder
from PIL import Image
from tiny import tiny_config

from recallseg.config import DataConfig
from recallseg.data import DATASETS, open_dataset
from recallseg.data.decoding import read_mask
from recallseg.data.opening import open_training, open_validation
from recallseg.engine.evaluation.rescore import rescore
from recallseg.engine.learn_call import prepare
from recallseg.engine.old_classes.stored_samples import store_samples
from recallseg.engine.runner import run
from recallseg.engine.samples.sets import Pick
from recallseg.engine.samples.views import PhotoSet, Supply, view_recipe
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.engine.session.shared import step_0_key
from recallseg.methods import Method
from recallseg.model.bank import FeatureBank
from recallseg.model.building import build_model
from recallseg.runs.settings import folder_name

SETTINGS = ("background", "void", "unscored")


def write_ade(root):
    for split in ("training", "validation"):
        for part in ("images", "annotations"):
            (root / part / split).mkdir(parents=True)
        for label in (1, 77, 150):
            photo, mask = draw_pair([label, 1], seed=label)
            photo.save(root / "images" / split / f"ADE_{label}.jpg")
            Image.fromarray(mask).save(root / "annotations" / split / f"ADE_{label}.png")
    return root


def labels(dataset, row=0):
    return set(np.unique(dataset.read(row)[1]).tolist())


def test_only_ades_zero_is_void_by_default():
    assert {name for name, kind in DATASETS.items() if kind.unlabelled == "void"} == {"ade"}
    others = {kind.unlabelled for name, kind in DATASETS.items() if name != "ade"}
    assert others == {"background"}


@pytest.mark.parametrize(
    ("setting", "training", "validation"),
    [
        (None, {1, 255}, {1, 255}),
        ("void", {1, 255}, {1, 255}),
        ("background", {0, 1, 255}, {0, 1, 255}),
        ("unscored", {0, 1, 255}, {1, 255}),
    ],
)
def test_what_training_and_evaluation_see_of_ade(tmp_path, setting, training, validation):
    data = DataConfig(name="ade", root=write_ade(tmp_path / "ade"), unlabelled=setting)
    assert labels(open_training(data)) == training
    assert labels(open_validation(data)) == validation


def test_voc_is_as_it_was_unless_asked(tmp_path):
    data = tiny_config(tmp_path / "voc").data
    assert open_training(data).labels is open_validation(data).labels is None
    void = data.model_copy(update={"unlabelled": "void"})
    assert labels(open_training(void)) == {1, 255}


def test_old_and_future_classes_stay_background_in_training(tmp_path):
    """The label 0 on disk is void; class 1, which step 1 must not see, is background."""
    data = RunData.open(tiny_config(tmp_path / "voc", data__unlabelled="void"))
    row = data.train.rows(["b0"])[0]
    on_disk, seen = read_mask(data.train.pairs[row].mask), data.train.read(row)[1]
    assert set(np.unique(on_disk).tolist()) == {0, 1, 2, 255}
    later = data.scenario[1].label_table[seen]
    assert (later[on_disk == 0] == 255).all()
    assert (later[(on_disk == 1) | (on_disk == 2)] == 0).all()
    first = data.scenario[0].label_table[seen]
    assert set(np.unique(first).tolist()) == {1, 2, 255}


def keys_of(tmp_path, setting):
    """What step 0, stored features and the looks at validation photos are known by."""
    torch.manual_seed(0)
    config = tiny_config(tmp_path / "voc", data__unlabelled=setting)
    data, encoder = RunData.open(config), build_model(config.model, 2, "none").encoder
    recipe = view_recipe(config.views, encoder)
    bank = FeatureBank(tmp_path, data.train, encoder, recipe, views=1, seed=0)
    return (
        step_0_key(config, data.scenario, data.train, Method),
        bank.folder.name,
        data.val.signature() if data.val else None,
        folder_name(tmp_path / "ft.yaml", config),
    )


def test_what_is_kept_is_kept_apart(tmp_path):
    usual, background, void, unscored = (keys_of(tmp_path, each) for each in (None, *SETTINGS))
    assert usual[:3] == background[:3]
    assert all(one != other for one, other in zip(background, void, strict=True))
    assert unscored[:2] == background[:2]
    assert unscored[2] == void[2]
    assert unscored[3] not in (background[3], void[3])


@pytest.mark.parametrize("frozen", [True, False])
def test_training_samples_have_no_background_where_nothing_is_labelled(tmp_path, frozen):
    """Photos that show the new class and nothing else, from stored features and on the fly."""
    seen = {}
    for setting in ("background", "void"):
        config = tiny_config(tmp_path / "voc", data__unlabelled=setting)
        data, encoder = RunData.open(config), build_model(config.model, 2, "none").encoder
        if frozen:
            encoder.freeze()
        step = data.scenario[1]
        photos = PhotoSet(data.train, step.images, step.label_table)
        samples = Supply(Session.open(config)).samples(encoder, photos, "step 1")
        batch = samples.batch([Pick(row, 0) for row in range(len(samples))])
        seen[setting] = set(batch.labels.unique().tolist())
    assert seen == {"background": {0, 19, 255}, "void": {19, 255}}


def test_a_life_may_leave_unlabelled_pixels_alone(tmp_path):
    """Label 2 of the folder, which is not learned, is background; label 0 is void."""
    folder = write_folder(tmp_path / "own", {f"p{n}": [1, 2] for n in range(6)}, ["cat", "dog"])
    for setting in (None, "void", "unscored"):
        opened = open_dataset("folder", "train", folder)
        words = [] if setting is None else [f"data.unlabelled={setting}"]
        call = prepare(tmp_path / "model", folder, classes=["cat"], val=folder, overrides=words)
        world = call.data
        on_disk = read_mask(opened.pairs[0].mask)
        learned, measured = world.train.read(0)[1], world.val.read(0)[1]
        assert set(learned[on_disk == 1].tolist()) == {1}
        assert set(learned[on_disk == 0].tolist()) == {255 if setting == "void" else 0}
        assert set(learned[on_disk == 2].tolist()) == {0}
        assert set(measured[on_disk == 0].tolist()) == {0 if setting is None else 255}


def test_stored_samples_keep_void(tmp_path):
    data = RunData.open(tiny_config(tmp_path / "voc", data__unlabelled="void"))
    step = data.scenario[1]
    store_samples(tmp_path / "kept", step, data.scenario, data.train, room=10**6, seed=0)
    masks = [read_mask(path) for path in sorted((tmp_path / "kept").glob("*.mask.png"))]
    assert len(masks) == 2
    assert {label for mask in masks for label in np.unique(mask).tolist()} == {19, 255}


def test_a_run_learns_and_is_scored_without_unlabelled_pixels(tmp_path):
    results = {}
    for setting in ("background", "void"):
        config = tiny_config(
            tmp_path / "voc",
            data__unlabelled=setting,
            optim__iterations_per_class=0.5,
            increment__iterations_per_class=1,
        )
        last = run(config, tmp_path / setting)["steps"][-1]
        results[setting] = last
        again = rescore(tmp_path / setting)
        assert again["iou"] == last["iou"]
        assert again["pixels"] == last["pixels"]
    assert results["void"]["iou"]["background"] is None
    assert results["background"]["iou"]["background"] is not None
    masks = [read_mask(pair.mask) for pair in open_validation(config.data).pairs]
    unlabelled = sum(int((mask == 0).sum()) for mask in masks)
    assert results["background"]["pixels"] - results["void"]["pixels"] == unlabelled
    means = results["void"]["miou"]
    known = [value for value in results["void"]["iou"].values() if value is not None]
    assert means["all"] == pytest.approx(np.mean(known), abs=1e-3)
    assert means["all"] == means["foreground"]
