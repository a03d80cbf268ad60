import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny import tiny_config
from trainers import no_training, watched

from recallseg.data import open_dataset
from recallseg.data.pictures import Pictures
from recallseg.engine.evaluation.measuring import Counts
from recallseg.engine.evaluation.rescore import rescore
from recallseg.engine.evaluation.scoring import score
from recallseg.engine.runner import run
from recallseg.engine.session.data import RunData, scenario_of
from recallseg.engine.session.shared import step_0_key
from recallseg.engine.training.loop import train
from recallseg.errors import RecallsegError
from recallseg.files import cache_root
from recallseg.methods import Method
from recallseg.report.model_history import model_history
from recallseg.runs.folder import RunFolder


def metrics(result):
    return {key: value for key, value in result.items() if key not in ("seconds", "peak_memory_mb")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory, module_cache):
    """One uninterrupted fine-tuning run, for several tests to look at."""
    folder = tmp_path_factory.mktemp("whole")
    config = tiny_config(folder / "voc")
    return config, folder / "run", run(config, folder / "run")


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def test_the_result_has_the_promised_shape(whole):
    _, folder, result = whole
    assert json.loads((folder / "result.json").read_text()) == result
    assert {key: result[key] for key in ("method", "dataset", "scenario", "setup", "seed")} == {
        "method": "ft",
        "dataset": "voc",
        "scenario": "18-1",
        "setup": "disjoint",
        "seed": 0,
    }
    assert [step["step"] for step in result["steps"]] == [0, 1, 2]
    last = result["steps"][-1]
    assert last["classes"] == ["tvmonitor"]
    assert list(last["miou"]) == ["old", "new", "all", "foreground", "old_with_background"]
    assert len(last["iou"]) == len(last["pixel_accuracy"]) == 21
    assert len(result["steps"][0]["iou"]) == 19
    known = [v for v in last["iou"].values() if v is not None]
    assert last["miou"]["all"] == pytest.approx(np.mean(known), abs=1e-3)
    assert result["steps"][0]["miou"]["new"] is None
    assert result["peak_memory_mb"] > 50


def test_the_folder_is_the_learner(whole):
    _, folder, _ = whole
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    parts = ("decoder.safetensors", "metrics.json", "predictions.zip", "proof.json")
    steps = {f"step-{k}/{part}" for k in range(3) for part in parts}
    assert names == steps | {
        "config.yaml",
        "classes.json",
        "encoder.safetensors",
        "metrics.jsonl",
        "result.json",
        "README.md",
        "checksums.json",
    }
    channels = [
        load_file(folder / f"step-{k}/decoder.safetensors")["branches.0.bias"].numel()
        for k in range(3)
    ]
    assert channels == [19, 20, 21]


def test_predictions_are_what_was_counted(whole):
    config, folder, result = whole
    val = open_dataset("voc", "val", config.data.root)
    table = scenario_of(config)[2].evaluation_table
    seen = Pictures(RunFolder(folder).step(2).predictions)
    counts = np.zeros((21, 21), dtype=np.int64)
    for row, pair in enumerate(val.pairs):
        truth, mask = table[val.read(row)[1]], seen.mask(pair.stem)
        known = truth != 255
        np.add.at(counts, (truth[known], mask[known]), 1)
    assert seen.names() == [pair.stem for pair in val.pairs]
    found = score(2, [], list(val.classes), 18, Counts(counts, counts))
    assert found["iou"] == result["steps"][2]["iou"]


def test_training_lowers_the_loss_and_the_journal_says_so(whole):
    _, folder, _ = whole
    journal = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in journal if "loss" in line]
    assert {line["phase"] for line in journal if "seconds" in line} >= {"step 0", "step 1"}
    losses = [line["loss"] for line in lines if line["phase"] == "step 0"]
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    assert lines[-1]["lr"] == pytest.approx(0.001)
    keys = [(line["phase"], line["iteration"]) for line in lines]
    assert len(keys) == len(set(keys))


def test_the_same_command_gives_the_same_numbers(whole, tmp_path, monkeypatch):
    config, _, result = whole
    monkeypatch.setenv("RECALLSEG_CACHE", str(tmp_path / "another"))
    assert metrics(run(config, tmp_path / "run")) == metrics(result)


def test_a_finished_run_is_not_run_again(whole):
    config, folder, result = whole
    assert run(config, folder, trainer=no_training) == result


def test_a_folder_of_another_run_is_refused(whole):
    config, folder, _ = whole
    other = config.model_copy(update={"seed": 7})
    with pytest.raises(RecallsegError, match="holds another run; it differs in seed"):
        run(other, folder)


def test_a_folder_of_something_else_is_refused(tmp_path):
    config = tiny_config(tmp_path / "voc")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(RecallsegError, match="is not empty and holds no run"):
        run(config, tmp_path / "mine")


def test_the_encoder_stays_frozen_bit_for_bit(tmp_path):
    seen = []

    def trainer(session, training, model, *rest):
        train(session, training, model, *rest)
        seen.append(model.encoder.fingerprint())

    run(tiny_config(tmp_path / "voc"), tmp_path / "run", trainer=trainer)
    assert len(seen) == 3
    assert len(set(seen)) == 1


def test_step_0_is_shared_by_scenarios_that_begin_alike(tmp_path):
    config = tiny_config(tmp_path / "voc")
    first = run(config, tmp_path / "a")
    trained, watched_run = watched()
    other = tiny_config(tmp_path / "voc", scenario__spec="18-2", increment__lr=0.01)
    second = watched_run(other, tmp_path / "b")
    assert list(trained) == ["step 1"]
    assert first["steps"][0]["iou"] == second["steps"][0]["iou"]
    trained.clear()
    watched_run(tiny_config(tmp_path / "voc", seed=1), tmp_path / "c")
    assert list(trained) == ["step 0", "step 1", "step 2"]


def test_joint_trains_once_on_everything(tmp_path):
    config = tiny_config(tmp_path / "voc", method__name="joint", bank__enabled=False)
    result = run(config, tmp_path / "run")
    assert len(result["steps"]) == 1
    step = result["steps"][0]
    assert len(step["classes"]) == 20
    assert step["miou"]["new"] is not None
    assert step["miou"]["old"] == pytest.approx(
        np.mean([step["iou"][name] for name in step["classes"][:18]]), abs=1e-3
    )


def test_past_its_budget_the_bank_steps_aside_and_says_so(tmp_path, capsys):
    config = tiny_config(tmp_path / "voc", bank__budget_gb=1e-6)
    result = run(config, tmp_path / "run")
    assert "encoded on the fly" in capsys.readouterr().err
    assert len(result["steps"]) == 3
    assert not list((cache_root() / "bank").rglob("*.safetensors"))


def test_features_are_deleted_when_they_are_not_to_be_kept(tmp_path):
    run(tiny_config(tmp_path / "voc", bank__keep=False), tmp_path / "run")
    assert not list((cache_root() / "bank").rglob("features.f16"))


def test_an_encoder_that_goes_on_learning_is_saved_at_each_step(tmp_path):
    config = tiny_config(tmp_path / "voc", method__train_encoder=True)
    result = run(config, tmp_path / "run")
    start = load_file(tmp_path / "run/encoder.safetensors")
    end = load_file(tmp_path / "run/step-2/encoder.safetensors")
    assert any(not torch.equal(start[name], end[name]) for name in start)
    assert rescore(tmp_path / "run")["iou"] == result["steps"][-1]["iou"]


def test_gradients_may_be_gathered_over_batches_and_weights_averaged(tmp_path):
    config = tiny_config(tmp_path / "voc", increment__accumulate=2, increment__ema=0.9)
    assert len(run(config, tmp_path / "run")["steps"]) == 3


def test_a_finished_model_is_scored_on_other_photos(whole, tmp_path):
    from drawn import write_voc

    _, folder, result = whole
    assert rescore(folder) == result["steps"][-1]
    assert rescore(folder, step=0) == result["steps"][0]
    root = write_voc(tmp_path / "new", {"test": {"x": [1, 5], "y": [20]}})
    scores = rescore(folder, root=root, split="test")
    assert scores["pixel_accuracy"]["bird"] is None
    assert scores["pixel_accuracy"]["tvmonitor"] is not None
    with pytest.raises(RecallsegError, match="has no step 9; it has 0, 1, 2"):
        rescore(folder, step=9)
    with pytest.raises(RecallsegError, match="is not a run folder"):
        rescore(tmp_path)


def test_broken_photos_are_found_before_training(tmp_path):
    config = tiny_config(tmp_path / "voc")
    photo = tmp_path / "voc/JPEGImages/v7.jpg"
    photo.write_bytes(photo.read_bytes()[:300])
    with pytest.raises(RecallsegError, match=r"v7\.jpg cannot be read"):
        run(config, tmp_path / "run", trainer=no_training)
    assert not (tmp_path / "run").exists()


def test_an_unknown_method_lists_the_known_ones(tmp_path):
    config = tiny_config(tmp_path / "voc", method__name="magic")
    with pytest.raises(RecallsegError, match=r"Unknown method 'magic'\. Known: ft, store_replay"):
        run(config, tmp_path / "run")


def test_a_folder_of_an_older_format_is_refused_where_its_weights_would_be_used(learned, tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(learned / "plain", folder)
    about = json.loads((folder / "classes.json").read_text())
    assert about.pop("format") == 2
    RunFolder(folder).write_classes(about)
    config = RunFolder(folder).config
    for use in (lambda: rescore(folder), lambda: run(config, folder)):
        with pytest.raises(RecallsegError, match=r"format 1, this one has 2.*train it again"):
            use()
    assert model_history(folder)["steps"]


def test_settings_can_be_chosen_without_the_validation_photos(tmp_path):
    config = tiny_config(tmp_path / "voc", data__val="tune")
    world = RunData.open(config)
    everything = open_dataset("voc", "train", config.data.root)
    train, tune = ({pair.stem for pair in part.pairs} for part in (world.train, world.val))
    assert train | tune == {pair.stem for pair in everything.pairs}
    assert not train & tune
    assert 0.1 < len(tune) / len(everything) < 0.35
    assert {stem for step in world.scenario for stem in step.images} == train


def test_settings_of_later_steps_can_be_chosen_on_the_step_0_of_other_runs(tmp_path):
    config = tiny_config(tmp_path / "voc", data__val="tune-later")
    usual_config = tiny_config(tmp_path / "voc")
    world, usual = RunData.open(config), RunData.open(usual_config)
    held_out = {pair.stem for pair in world.val.pairs}
    assert held_out
    assert world.scenario[0] == usual.scenario[0]
    for step, whole in zip(world.scenario[1:], usual.scenario[1:], strict=True):
        assert set(step.images) == set(whole.images) - held_out
    [joint] = world.scenario.merged()
    assert not held_out & set(joint.images)
    keys = [
        step_0_key(each, data.scenario, data.train, Method)
        for each, data in ((config, world), (usual_config, usual))
    ]
    assert keys[0] == keys[1]


def test_what_is_held_out_must_be_of_the_default_split(tmp_path):
    with pytest.raises(RecallsegError, match=r"val=tune holds photos of the default .* split out"):
        tiny_config(tmp_path / "voc", data__val="tune", data__train="val")
