"""Curves of a run in the files of trackers; those that are not installed are left out."""

import builtins

import pytest
from tiny import three_classes

from recallseg.config import load_config
from recallseg.engine.runner import run
from recallseg.engine.session.tracking import open_trackers
from recallseg.errors import RecallsegError

CURVES = {"step 0/loss", "step 0/lr", "step 1/loss", "mIoU/all"}


@pytest.fixture
def offline(monkeypatch):
    for name in ("WANDB_MODE", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("offline")
def test_tensorboard_has_the_curves_of_a_run(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    config = three_classes(tmp_path / "data", track=["tensorboard"], method__name="ft")
    run(config, tmp_path / "run")
    events = accumulator.EventAccumulator(str(tmp_path / "run/tensorboard")).Reload()
    assert set(events.Tags()["scalars"]) >= CURVES
    assert [event.step for event in events.Scalars("mIoU/all")] == [0, 1, 2]
    run(config.model_copy(update={"track": ()}), tmp_path / "run")
    assert load_config(tmp_path / "run/config.yaml").track == ()


@pytest.mark.usefixtures("offline")
@pytest.mark.filterwarnings("ignore")
def test_wandb_stays_offline(tmp_path):
    pytest.importorskip("wandb")
    config = three_classes(tmp_path / "data", track=["wandb"])
    [tracker] = open_trackers(config, tmp_path)
    for iteration in range(3):
        tracker.log_metrics({"step 0/loss": 1.0, "step 0/lr": 0.1}, iteration)
    tracker.log_metrics({"mIoU/all": 50.0}, 0)
    summary = dict(tracker.run.summary)
    tracker.finalize("success")
    assert (summary["step 0/iteration"], summary["mIoU/all"]) == (2, 50.0)
    [place] = (tmp_path / "wandb").glob("offline-run-*")
    assert list(place.glob("*.wandb"))


@pytest.mark.usefixtures("offline")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_writes_into_the_run_folder(tmp_path):
    pytest.importorskip("mlflow")
    config = three_classes(tmp_path / "data", track=["mlflow"])
    [tracker] = open_trackers(config, tmp_path)
    for iteration in range(3):
        tracker.log_metrics({"step 0/loss": 1.0 + iteration}, iteration)
    tracker.finalize("success")
    history = tracker.client.get_metric_history(tracker.id, "step 0/loss")
    assert [(point.step, point.value) for point in history] == [(0, 1.0), (1, 2.0), (2, 3.0)]
    kept = tracker.client.get_run(tracker.id)
    assert kept.data.params["model.encoder"] == "test_efficientnet"
    assert kept.info.status == "FINISHED"
    assert (tmp_path / "mlflow.db").is_file()


@pytest.mark.parametrize("name", ["tensorboard", "wandb", "mlflow"])
def test_a_tracker_that_is_not_installed_is_a_sentence(tmp_path, monkeypatch, name):
    import_module = builtins.__import__

    def without(wanted, *args):
        if wanted.split(".")[0] in ("wandb", "mlflow") or "tensorboard" in wanted:
            raise ImportError(wanted)
        return import_module(wanted, *args)

    config = three_classes(tmp_path / "data", track=[name])
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RecallsegError, match=f"track={name} needs a package: pip install"):
        open_trackers(config, tmp_path)


def test_run_folders_of_before_are_read(tmp_path):
    from recallseg.runs.folder import RunFolder

    (tmp_path / "config.yaml").write_text("tensorboard: true")
    assert RunFolder(tmp_path).config.track == ("tensorboard",)
