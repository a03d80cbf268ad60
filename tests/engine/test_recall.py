"""RECALL end to end on drawn blocks."""

import json
import re
import shutil
import zipfile
from functools import partial
from hashlib import sha256

import imagehash
import numpy as np
import pytest
import torch
from drawn import draw_pair
from PIL import Image, UnidentifiedImageError
from safetensors.torch import load_file, save_file
from tiny import tiny_config
from trainers import interrupted, watched

from recallseg.data.decoding import read_mask
from recallseg.data.voc import CLASSES
from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.files import cache_root
from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of drawn photos for every class, in other sizes than the dataset's."""
    root = tmp_path_factory.mktemp("photos")
    for label, name in enumerate(CLASSES):
        if label:
            (root / name).mkdir(parents=True)
            for number in range(3):
                photo, _ = draw_pair([label], size=(30, 26), seed=100 + number)
                photo.save(root / name / f"{number}.png")
    return root


@pytest.fixture
def recall_config(drawn_voc, photos, shared_cache):
    return partial(make_config, drawn_voc, photos)


def make_config(voc, photos, **changes):
    settings = {
        "method__name": "recall",
        "replay__source": "folder",
        "replay__folder__path": str(photos),
        "replay__images_per_class": 3,
        "replay__filters__present": False,
        "helper__optim": {"lr": 0.02, "end_lr": 0.001, "batch": 4, "iterations_per_class": 2},
    }
    return tiny_config(voc, **settings | changes)


def after_step_0(seen):
    """What was trained; step 0, which other tests may have trained, is left out."""
    return {name: batch for name, batch in seen.items() if name != "step 0"}


def test_algorithm_1(tmp_path, drawn_voc, photos):
    seen, run = watched()
    result = run(make_config(drawn_voc, photos), tmp_path / "run")
    assert list(seen) == ["step 0", "helper 0", "step 1", "helper 1", "step 2", "helper 2"]
    assert len(result["steps"]) == 3
    assert len(seen["step 1"].labels) == 4
    assert seen["step 1"].photos is None
    assert set(seen["helper 1"].labels.unique().tolist()) <= {0, 1, 255}
    lines = (tmp_path / "run/replay/manifest.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert len(entries) == 19 * 3
    assert {entry["class_name"] for entry in entries} == set(CLASSES[1:20])
    assert all(entry["rejected"] is None for entry in entries)


def test_the_only_masks_in_the_cache_are_pseudo_labels(tmp_path, drawn_voc, photos):
    """Images whose views are labelled are samples as they are."""
    run(make_config(drawn_voc, photos), tmp_path / "run")
    replay = RunFolder(tmp_path / "run").config.replay
    assert replay.label_on == "views"
    masks = list((cache_root() / "replay").rglob("*.png"))
    assert {path.relative_to(cache_root()).parts[1] for path in masks} == {"labels"}


def copies(folder, originals):
    """The files below `folder` that equal an original in bytes, or look like one."""
    originals = [path for path in originals if path.is_file()]
    bytes_of = {sha256(path.read_bytes()).hexdigest() for path in originals}
    looks_of = [look for path in originals if (look := looks(path)) is not None]
    return {
        path
        for path in folder.rglob("*")
        if path.is_file()
        and (
            sha256(path.read_bytes()).hexdigest() in bytes_of
            or any((look := looks(path)) is not None and look - known <= 4 for known in looks_of)
        )
    }


def looks(path):
    try:
        with Image.open(path) as image:
            return imagehash.phash(image.convert("RGB"))
    except UnidentifiedImageError:
        return None


def test_the_run_folder_holds_no_photo_and_no_features(tmp_path, recall_config, drawn_voc, photos):
    run(recall_config(), tmp_path / "run")
    training = [*drawn_voc.rglob("*")]
    assert not copies(tmp_path / "run", [*training, *photos.rglob("*")])
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    kinds = {".json", ".jsonl", ".yaml", ".safetensors", ".zip", ".md"}
    assert {path.suffix for path in files} == kinds
    for archive in (tmp_path / "run").rglob("*.zip"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(tmp_path / "opened" / archive.stem)
    for mask in (tmp_path / "opened/predictions").iterdir():
        with Image.open(mask) as image:
            assert image.mode == "P"
    assert not copies(tmp_path / "opened/gallery", training)
    model, _ = open_model(RunFolder(tmp_path / "run"), 0)
    shapes = {tuple(value.shape[1:]) for value in model.decoder.state_dict().values()}
    for path in files:
        if path.name == "encoder.safetensors":
            assert load_file(path).keys() == model.encoder.state_dict().keys()
        elif path.suffix == ".safetensors":
            tensors = load_file(path)
            assert tensors.keys() == model.decoder.state_dict().keys()
            assert {tuple(value.shape[1:]) for value in tensors.values()} == shapes
    assert json.loads((tmp_path / "run/result.json").read_text())["keeps_photos"] is False


def test_each_part_can_be_switched_off(tmp_path, recall_config, drawn_voc):
    config = recall_config(replay__source="none")
    seen, run = watched()
    run(config, tmp_path / "inpainting")
    assert list(after_step_0(seen)) == ["step 1", "step 2"]
    inpainted = seen["step 1"].labels
    run(
        recall_config(replay__source="none", method__inpaint=False),
        tmp_path / "neither",
    )
    plain = seen["step 1"].labels
    run(tiny_config(drawn_voc), tmp_path / "ft")
    assert (seen["step 1"].labels == plain).all()
    kept = plain != 0
    assert (inpainted[kept] == plain[kept]).all()
    assert (inpainted[~kept] < 19).all()


def test_the_previous_model_may_label(tmp_path, recall_config):
    seen, run = watched()
    run(recall_config(replay__labels="previous"), tmp_path / "run")
    assert list(after_step_0(seen)) == ["step 1", "step 2"]


def test_d_0_may_be_its_own_helper(tmp_path, recall_config):
    seen, run = watched()
    run(recall_config(helper__initial="reuse"), tmp_path / "run")
    assert "helper 0" not in seen
    helper, decoder = (tmp_path / f"run/step-0/{n}.safetensors" for n in ("helper", "decoder"))
    assert helper.read_bytes() == decoder.read_bytes()


def test_helpers_may_know_one_class_each(tmp_path, recall_config):
    seen, run = watched()
    run(recall_config(helper__scope="one_class"), tmp_path / "run")
    helpers = [name for name in seen if name.startswith("helper")]
    assert helpers == [
        *(f"helper 0, class {label}" for label in range(1, 19)),
        "helper 1, class 19",
        "helper 2, class 20",
    ]
    for name in helpers:
        assert set(seen[name].labels.unique().tolist()) <= {0, 1, 255}
    kept = tmp_path / "run/step-0"
    assert len(list(kept.glob("helper-*.safetensors"))) == 18
    assert load_file(kept / "helper-7.safetensors")["branches.0.bias"].shape == (2,)


def test_one_helper_may_grow_with_all_classes(tmp_path, recall_config):
    seen, run = watched()
    run(recall_config(helper__scope="shared"), tmp_path / "run")
    trained = ["helper 0", "step 1", "helper 1", "step 2", "helper 2"]
    assert list(after_step_0(seen)) == trained
    for step in range(3):
        weights = load_file(tmp_path / f"run/step-{step}/helper.safetensors")
        assert weights["branches.0.bias"].shape == (19 + step,)
    new, replayed = seen["helper 2"].labels.split(2)
    assert 20 in new
    assert 20 not in replayed


def test_the_model_of_each_step_may_be_its_helper(tmp_path, recall_config):
    seen, run = watched()
    run(recall_config(helper__scope="model"), tmp_path / "run")
    assert list(after_step_0(seen)) == ["step 1", "step 2"]
    assert not list(tmp_path.glob("run/step-*/helper*"))
    new, replayed = seen["step 2"].labels.split(2)
    assert 20 in new
    assert 20 not in replayed


def test_a_second_pass_has_more_images_of_new_classes_and_labels_that_know_them(
    tmp_path, recall_config
):
    seen, run = watched()
    settings = {"replay__inpaint": True, "replay__passes": 2, "replay__new_images": 3}
    run(recall_config(**settings), tmp_path / "run")
    assert [name for name in after_step_0(seen) if name.startswith("step")] == [
        *("step 1", "step 1, second pass"),
        *("step 2", "step 2, second pass"),
    ]
    lines = (tmp_path / "run/replay/manifest.jsonl").read_text().splitlines()
    assert {"train", "tvmonitor"} <= {json.loads(line)["class_name"] for line in lines}


def test_a_second_pass_goes_on_where_it_was_stopped(tmp_path, recall_config):
    config = recall_config(replay__passes=2)
    whole = run(config, tmp_path / "whole")
    stopping = interrupted("step 1, second pass", 0)
    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path / "stopped", trainer=stopping)
    trained, continued = watched()
    again = continued(config, tmp_path / "stopped")
    assert "step 1" not in trained
    assert again["steps"] == whole["steps"]


def test_new_images_belong_to_a_second_pass(recall_config):
    with pytest.raises(RecallsegError, match=r"set replay\.passes=2 too"):
        recall_config(replay__new_images=3)


def test_void_may_be_filled_and_padding_never(tmp_path, recall_config):
    seen, run = watched()
    settings = {"replay__source": "none", "views__scale": [0.9, 1.0]}
    run(recall_config(**settings), tmp_path / "ignored")
    ignored = seen["step 1"].labels
    run(recall_config(**settings, method__void="inpaint"), tmp_path / "filled")
    filled = seen["step 1"].labels
    was_void = ignored == 255
    assert (filled[~was_void] == ignored[~was_void]).all()
    assert (filled[was_void] == 255).any()
    assert (filled[was_void] < 19).any()


def test_a_class_without_photos_is_told_and_left_out(tmp_path, recall_config, photos, capsys):
    shutil.copytree(photos, tmp_path / "photos", ignore=shutil.ignore_patterns("cat"))
    (tmp_path / "photos/cat").mkdir()
    run(recall_config(replay__folder__path=str(tmp_path / "photos")), tmp_path / "run")
    told = capsys.readouterr().err
    assert "no replay images of 'cat'" in told
    assert re.search(r"step 1: \d+ of \d+ replay images kept, \d+ of \w+ the fewest", told)


def test_missing_photos_are_a_sentence_before_training(tmp_path, recall_config):
    seen, run = watched()
    config = recall_config(replay__folder__path=None)
    with pytest.raises(RecallsegError, match=r"replay\.source=folder needs replay\.folder\.path"):
        run(config, tmp_path / "run")
    with pytest.raises(RecallsegError, match="Known: none, folder, web, gan"):
        run(recall_config(replay__source="tv"), tmp_path / "x")
    assert not seen


def test_photos_may_come_from_a_photo_site(tmp_path, recall_config, monkeypatch):
    from photo_site import KEY, PhotoSite, photos_of

    monkeypatch.setenv("FLICKR_API_KEY", KEY)
    words = ["airplane", *CLASSES[2:11], "dining table", *CLASSES[12:16], "potted plant"]
    words += CLASSES[17:20]
    photos = [photo for n, word in enumerate(words) for photo in photos_of(word, 2, 10 * n)]
    with PhotoSite(photos) as site:
        config = recall_config(
            replay__source="web",
            replay__web__site="flickr",
            replay__web__base_url=f"{site.base}/services/rest/",
            replay__web__allow_hosts=[site.host],
            replay__web__interval=0,
            replay__images_per_class=2,
        )
        run(config, tmp_path / "run")
    lines = (tmp_path / "run/replay/manifest.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert len(entries) == 19 * 2
    assert all(entry["licence"] and entry["credit"] for entry in entries)
    assert {entry["source"] for entry in entries} == {"flickr"}


@pytest.mark.usefixtures("shared_cache")
def test_store_and_replay_keeps_true_samples_of_the_size_of_a_helper(tmp_path, drawn_voc):
    seen, run = watched()
    run(tiny_config(drawn_voc, method__name="store_replay"), tmp_path / "run")
    assert list(after_step_0(seen)) == ["step 1", "step 2"]
    for step, classes in ((0, 18), (1, 1), (2, 1)):
        stored = tmp_path / f"run/step-{step}/samples"
        masks = sorted(stored.glob("*.mask.png"))
        assert len(list(stored.glob("*.jpg"))) == len(masks) >= 1
        held = {int(v) for m in masks for v in np.unique(read_mask(m))} - {0, 255}
        assert len(held) == classes
        room = sum(
            tensor.nbytes
            for tensor in load_file(tmp_path / f"run/step-{step}/decoder.safetensors").values()
        )
        if step:
            per_class = room / (19 + step) * 2
            assert sum(path.stat().st_size for path in stored.iterdir()) <= per_class
    labels = set(seen["step 2"].labels.unique().tolist())
    assert labels & set(range(1, 20))
    stored = set((tmp_path / "run").rglob("*.jpg"))
    assert copies(tmp_path / "run", (drawn_voc / "JPEGImages").iterdir()) >= stored
    assert json.loads((tmp_path / "run/result.json").read_text())["keeps_photos"] is True


def test_images_may_come_from_a_generator(tmp_path, recall_config):
    torch.manual_seed(0)
    generator = BigGAN(BigGANConfig.at(64, channel_width=8))
    save_file(generator.state_dict(), tmp_path / "gan.safetensors")
    config = recall_config(
        replay__source="gan",
        replay__gan__path=str(tmp_path / "gan.safetensors"),
        replay__images_per_class=2,
        scenario__spec="19-1",
    )
    seen, run = watched()
    run(config, tmp_path / "run")
    assert list(after_step_0(seen)) == ["helper 0", "step 1", "helper 1"]
    mapping = json.loads((tmp_path / "run/mapping.json").read_text())
    assert mapping.keys() == set(CLASSES[1:])
    assert all(len(matches) == 3 for matches in mapping.values())
    lines = (tmp_path / "run/replay/manifest.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert len(entries) == 19 * 2
    for entry in entries:
        assert entry["query"] == mapping[entry["class_name"]][0][1]
        assert entry["licence"] == "generated"
