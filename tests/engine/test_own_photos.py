"""A model taught by several calls of `learn`: numbers, settings and steps that refine."""

import json
import shutil

import numpy as np
import pytest
from commands import recallseg
from drawn import draw_pair, write_folder
from tiny import TINY

from recallseg.engine import learn as life
from recallseg.engine.evaluation.comparing import losses
from recallseg.engine.evaluation.measuring import Counts
from recallseg.engine.evaluation.scoring import score
from recallseg.engine.learn import learn, rollback
from recallseg.errors import RecallsegError
from recallseg.predict.opening import open_model
from recallseg.predict.timeline import Timeline
from recallseg.report.model_history import model_history
from recallseg.report.page import page
from recallseg.report.runs import read_runs
from recallseg.runs.taught_folder import TaughtFolder

NAMES = ["cat", "dog", "cow", "hen"]


def photos_of(folder, names, each=6, first=0):
    """Photos of classes that look the same in every folder, numbered as in `names`."""
    folder_classes = ["background", *names]
    members = {
        f"{name}{first + n}": [1 + place] for place, name in enumerate(names) for n in range(each)
    }
    write_folder(folder, members, folder_classes)
    for place, name in enumerate(names):
        for n in range(each):
            photo, _ = draw_pair([1 + NAMES.index(name)], seed=100 * place + first + n)
            photo.save(folder / "images" / f"{name}{first + n}.png")
    return folder


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Photos to learn from, to be measured on and to be replayed, and a model of two calls."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLSEG_CACHE", str(folder / "cache"))
        photos_of(folder / "pets", ["cat", "dog"])
        photos_of(folder / "cows", ["cow"])
        photos_of(folder / "val", ["cat", "dog", "cow"], each=3, first=50)
        for name in NAMES[:3]:
            (folder / "replay" / name).mkdir(parents=True)
            for number in range(3):
                photo, _ = draw_pair([1 + NAMES.index(name)], size=(48, 40), seed=200 + number)
                photo.save(folder / "replay" / name / f"{number}.png")
        learn(folder / "model", folder / "pets", val=folder / "val", overrides=TINY)
        words = ["learn", folder / "model", folder / "cows", "--source", f"folder:{folder}/replay"]
        done = recallseg(*words)
        assert done.returncode == 0, done.stderr
        (folder / "said.txt").write_text(done.stdout)
    return folder


@pytest.fixture
def copy(world, tmp_path):
    """A copy of that model, which a test may change."""
    shutil.copytree(world / "model", tmp_path / "model")
    return tmp_path / "model"


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_photos_are_encoded_once_for_the_step_and_its_helper(world):
    """The helper's training finds the features that the step has stored."""
    lines = (world / "model/metrics.jsonl").read_text().splitlines()
    parts = {entry["phase"]: entry["parts"] for entry in map(json.loads, lines) if "parts" in entry}
    assert parts["step 1: encode"] == 6
    assert parts["helper 1: encode"] == 0
    assert not list((world / "cache/bank").glob("*/features.f16"))


def test_scores_without_new_pixels_by_hand():
    counts = np.array([[8, 1, 1], [0, 6, 4], [2, 2, 6]])
    record = score(1, ["b"], ["background", "a", "b"], 1, Counts(counts, counts))
    assert record["iou"]["a"] == pytest.approx(100 * 6 / (10 + 1 + 2), abs=1e-3)
    assert record["iou_without_new"] == {
        "background": pytest.approx(100 * 8 / 10, abs=1e-3),
        "a": pytest.approx(100 * 6 / (10 + 1), abs=1e-3),
    }
    assert record["confusions"][0] == {"true": "a", "seen": "b", "share": 40.0}
    shares = {(each["true"], each["seen"]): each["share"] for each in record["confusions"]}
    assert shares["b", "background"] == shares["b", "a"] == 20.0
    assert "iou_without_new" not in score(
        0, ["a", "b"], ["background", "a", "b"], 2, Counts(counts, counts)
    )


def test_before_and_after_are_measured_on_the_same_pixels(world):
    folder = TaughtFolder(world / "model")
    comparison, first, second = folder.comparison(1), folder.scores(0), folder.scores(1)
    assert comparison["before"] == first["iou"]
    assert comparison["after"] == second["iou_without_new"]
    assert list(comparison["new"]) == ["cow"]
    assert comparison["photos"] == 9
    said = (world / "said.txt").read_text()
    for words in ("before", "after", "change", "cow (new)", "without the pixels of the new"):
        assert words in said
    for each in second["confusions"]:
        assert f"{each['share']:.0f} % of {each['true']} is called {each['seen']}" in said


def test_a_class_that_lost_much_is_told_loudly():
    record = {"before": {"cat": 86.9, "dog": 50.0, "ox": None}, "after": {"cat": 79.5, "dog": 48.0}}
    assert losses(record) == ["WARNING: 'cat' lost 7.4 points (86.9 before, 79.5 now)."]


def test_val_is_remembered_by_learn_and_evaluate(world):
    folder = TaughtFolder(world / "model")
    assert folder.config.data.val_root == (world / "val").resolve()
    assert [call["val"] is None for call in folder.calls()] == [False, True]
    told = recallseg("evaluate", world / "model", "--json")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout) == folder.scores(1)


def test_a_step_that_is_not_measured_shows_no_scores_of_another(copy, world, tmp_path):
    photos_of(tmp_path / "hens", ["hen"])
    words = ["learn", copy, tmp_path / "hens", "--source", "none", "--allow-forgetting"]
    done = recallseg(*words)
    assert done.returncode == 0, done.stderr
    assert "lacks classes of the model: hen" in done.stderr
    assert "Step 2 was not measured" in done.stdout
    assert "IoU" not in done.stdout


def test_a_model_without_val_says_what_to_name(tmp_path):
    learn(tmp_path / "model", photos_of(tmp_path / "pets", ["cat", "dog"]), overrides=TINY)
    told = recallseg("evaluate", tmp_path / "model")
    assert told.returncode == 2
    assert "--root of `evaluate`" in told.stderr
    val = photos_of(tmp_path / "val", ["cat", "dog"], first=50)
    assert recallseg("evaluate", tmp_path / "model", "--root", val).returncode == 0


def test_info_and_report_tell_of_both_calls(world):
    folder, history = TaughtFolder(world / "model"), model_history(world / "model")
    assert [step["classes"] for step in history["steps"]] == [["cat", "dog"], ["cow"]]
    times = [step["seconds"] for step in history["steps"]]
    assert all(seconds > 0 for seconds in times)
    assert history["seconds"] == pytest.approx(sum(times))
    assert (history["longer_side"], history["measured_on"]) == (24, str((world / "val").resolve()))
    shown = recallseg("info", world / "model").stdout
    assert "looks at photos at 24 px" in shown
    text = page(read_runs([world / "model"]), "Title")
    assert "RECALL (folder)" in text
    assert "(Web)" not in text
    assert f"recallseg learn {world / 'model'} {(world / 'cows').resolve()} --classes cow" in text
    assert "There are no pictures here" not in text
    assert text.count("drawn at random") + text.count("best kept") > 0
    assert folder.result["scenario"] == "2-1"


def test_old_classes_are_not_forgotten_by_mistake(copy, world, tmp_path):
    hens, before = photos_of(tmp_path / "hens", ["hen"]), files(copy)
    with pytest.raises(RecallsegError, match="nothing keeps cat, dog, cow from being forgotten"):
        learn(copy, hens, source="none")
    poor = tmp_path / "poor"
    shutil.copytree(world / "replay/cat", poor / "cat")
    with pytest.raises(RecallsegError, match="hold none of dog, cow, which would be forgotten"):
        learn(copy, hens, source=f"folder:{poor}")
    assert files(copy) == before


def test_replay_images_in_which_nothing_is_seen_are_an_error_too(copy, world, tmp_path):
    """What only labelling can tell; the call fails and leaves nothing behind."""
    hens, before = photos_of(tmp_path / "hens", ["hen"]), files(copy)
    unlikely = ["replay.filters.present=true", "replay.filters.min_area=1.0"]
    with pytest.raises(RecallsegError, match=r"no replay image in which '\w+' is seen"):
        learn(copy, hens, source=f"folder:{world / 'replay'}", overrides=unlikely)
    after = files(copy)
    changed = {path.name for path in after if after[path] != before.get(path)}
    assert changed <= {"metrics.jsonl", "checksums.json"}
    assert before.keys() == after.keys()


def test_settings_of_a_killed_call_do_not_stick(copy, tmp_path, monkeypatch):
    hens = photos_of(tmp_path / "hens", ["hen"])
    forgetting = {"source": "none", "allow_forgetting": True}

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(life, "run", killed)
        with pytest.raises(KeyboardInterrupt):
            learn(copy, hens, **forgetting, overrides=["increment.lr=0.5"])
    learn(copy, hens, **forgetting)
    assert TaughtFolder(copy).config.increment.lr == 0.02


def test_a_dry_run_tells_everything_and_changes_nothing(copy, world, tmp_path):
    photos_of(tmp_path / "farm", ["hen", "cow"])
    (tmp_path / "farm/val.txt").write_text("cow0\n")
    before = files(copy)
    words = ["learn", copy, tmp_path / "farm", "--classes", "hen", "--dry-run", "increment.lr=0.1"]
    done = recallseg(*words, "--json")
    assert done.returncode == 0, done.stderr
    assert files(copy) == before
    plan = json.loads(done.stdout)
    assert (plan["step"], plan["classes"], plan["refines"]) == (2, ["hen"], False)
    assert plan["photos"]["used"] == 6
    assert plan["photos"]["by_class"] == {"hen": 6}
    assert plan["photos"]["left_out"] == {"show none of hen": 5, "are listed in val.txt": 1}
    assert plan["replay"]["by_class"] == {"cat": 3, "dog": 3, "cow": 3}
    assert plan["iterations"] == {"step 2": 2, "helper 2": 2}
    assert plan["bytes_meanwhile"] > 0 < plan["bytes_kept"]
    origins = {key: about["from"] for key, about in plan["settings"].items()}
    assert origins["increment.lr"] == "this call"
    assert origins["views.longer_side"] == origins["views.crop"] == "an earlier call"
    assert origins["method.name"] == "preset learn"
    assert origins["increment.momentum"] == "default"
    shown = recallseg(*words).stdout
    for text in ("step 2 adds hen", "5 photos are left out", "iterations: step 2 2", "this call"):
        assert text in shown


def test_more_photos_refine_a_class_and_can_be_taken_back(copy, world, tmp_path):
    more = photos_of(tmp_path / "dogs", ["dog"], first=20)
    first = (copy / "step-1/decoder.safetensors").read_bytes()
    with pytest.raises(RecallsegError, match=r"knows dog already; .*--classes dog"):
        learn(copy, more)
    learn(copy, more, classes=["dog"])
    found, step = open_model(TaughtFolder(copy))
    assert (step, found.decoder.classes) == (2, 4)
    assert (copy / "step-2/decoder.safetensors").read_bytes() != first
    assert not TaughtFolder(copy).step(2).helpers()
    lines = (copy / "replay/manifest.jsonl").read_text().splitlines()
    replayed = [json.loads(line) for line in lines]
    assert {entry["class_name"] for entry in replayed} == {"cat", "cow"}
    history = model_history(copy)
    assert (history["steps"][2]["classes"], history["steps"][2]["refined"]) == ([], ["dog"])
    assert "more of dog" in recallseg("info", copy).stdout
    assert "more of dog" in page(read_runs([copy]), "Title")
    assert Timeline(copy).steps()[2] == {"step": 2, "new": [], "refined": ["dog"]}
    assert set(TaughtFolder(copy).comparison(2)["after"]) == {"background", "cat", "dog", "cow"}
    with pytest.raises(RecallsegError, match="from these very photos at step 2"):
        learn(copy, more, classes=["dog"])
    learn(copy, photos_of(tmp_path / "hens", ["hen"]))
    assert TaughtFolder(copy).learned()["channels"] == ["background", *NAMES]
    assert rollback(copy, 1) == ["hen", "more photos of dog"]
    assert open_model(TaughtFolder(copy))[1] == 1
    assert (copy / "step-1/decoder.safetensors").read_bytes() == first
    assert "refined" not in TaughtFolder(copy).learned()
