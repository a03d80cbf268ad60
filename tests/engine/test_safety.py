"""What must never happen in silence: two commands on one model, damaged files, strangers."""

import json
import shutil
import threading
from functools import partial
from pathlib import Path

import pytest
from drawn import write_folder
from tiny import TINY
from trainers import interrupted

from recallseg.engine.learn import learn, rollback
from recallseg.engine.runner import run
from recallseg.engine.training.loop import train
from recallseg.errors import RecallsegError
from recallseg.files import cache_root
from recallseg.predict.predictor import Predictor
from recallseg.runs.folder import RunFolder

SHORT = [
    *TINY,
    "optim.iterations_per_class=1",
    "increment.iterations_per_class=2",
    "helper.optim.iterations_per_class=1",
]

ALONE = {"source": "none", "allow_forgetting": True}


def photos(root, *classes):
    members = {f"{name}{i}": [label] for label, name in enumerate(classes, 1) for i in range(5)}
    return write_folder(root, members, list(classes))


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A model that learned cat and dog, with photos of other classes beside it."""
    root = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLSEG_CACHE", str(root / "cache"))
        learn(root / "model", photos(root / "a", "cat", "dog"), overrides=SHORT, source="none")
    for name in ("cow", "hen"):
        photos(root / name, name)
    return root


@pytest.fixture
def model(first, tmp_path):
    shutil.copytree(first / "model", tmp_path / "model")
    return tmp_path / "model"


def weights(model, step=1):
    return (model / f"step-{step}/decoder.safetensors").read_bytes()


def at_once(work):
    """The error that `work` ends with when it is done beside what this thread is doing."""
    errors = []

    def done():
        try:
            work()
        except RecallsegError as error:
            errors.append(str(error))

    thread = threading.Thread(target=done)
    thread.start()
    thread.join()
    return errors


def test_two_commands_on_one_model_do_not_mix(first, model, monkeypatch):
    second, write_classes = {}, RunFolder.write_classes

    def beside(self, record):
        for name, work in {
            "learn": lambda: learn(model, first / "hen"),
            "the same": lambda: learn(model, first / "cow"),
            "rollback": lambda: rollback(model, 0),
        }.items():
            second[name] = at_once(work)
        write_classes(self, record)

    monkeypatch.setattr(RunFolder, "write_classes", beside)
    learn(model, first / "cow", **ALONE)
    for errors in second.values():
        assert len(errors) == 1
        assert "is being worked on by process" in errors[0]
    assert Predictor.open(model).class_names == ("background", "cat", "dog", "cow")
    assert not (model / ".lease").exists()


def test_a_rollback_that_is_killed_leaves_no_old_weights_under_a_new_name(
    first, model, monkeypatch
):
    learn(model, first / "cow", **ALONE)
    cow = weights(model)

    def killed(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "forget_state", killed)
        with pytest.raises(KeyboardInterrupt):
            rollback(model, 0)
    assert (model / "step-1/decoder.safetensors").is_file()
    assert Predictor.open(model).class_names == ("background", "cat", "dog")
    learn(model, first / "hen", **ALONE)
    assert weights(model) != cow
    assert json.loads((model / "step-1/proof.json").read_text())["channels"][-1] == "hen"


def test_weights_are_refused_for_other_classes_and_other_settings(first, model):
    learn(model, first / "cow", **ALONE)
    folder = RunFolder(model)
    record = folder.learned()
    renamed = {"channels": [*record["channels"][:-1], "hen"], "steps": [["cat", "dog"], ["hen"]]}
    folder.write_classes(record | renamed)
    with pytest.raises(RecallsegError, match="trained with other classes than"):
        Predictor.open(model)
    folder.write_classes(record)
    values = folder.config.model_dump(mode="json")
    values["model"]["dilations"] = [1, 2, 3, 4]
    folder.write_config(type(folder.config).model_validate(values))
    with pytest.raises(RecallsegError, match="other settings of the model than"):
        Predictor.open(model)


@pytest.mark.parametrize("damage", [b"cut", b"\xff"])
def test_a_damaged_saved_training_starts_again_and_ends_the_same(
    first, model, monkeypatch, capsys, damage
):
    learn(model, first / "cow", **ALONE)
    whole = weights(model)
    shutil.rmtree(model)
    shutil.copytree(first / "model", model)

    with monkeypatch.context() as patch:
        patch.setattr("recallseg.engine.learn.run", partial(run, trainer=interrupted("step 1", 1)))
        with pytest.raises(KeyboardInterrupt):
            learn(model, first / "cow", **ALONE, overrides=["checkpoint_seconds=0"])
    saved = model / "state/training.pt"
    held = bytearray(saved.read_bytes())
    if damage == b"cut":
        held = held[: len(held) // 2]
    else:
        held[len(held) // 2] ^= 0xFF
    saved.write_bytes(held)
    learn(model, first / "cow", **ALONE, overrides=["checkpoint_seconds=0"])
    assert "training.pt is damaged; this training starts again" in capsys.readouterr().err
    assert weights(model) == whole


def test_a_saved_training_belongs_to_its_photos(first, model):
    saved = []

    def watch(session, training, *rest):
        saved.append(training.key(session))
        train(session, training, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recallseg.engine.learn.run", partial(run, trainer=watch))
        for name in ("cow", "hen"):
            learn(model, first / name, **ALONE)
            rollback(model, 0)
    assert len(saved) == len(set(saved)) == 4


@pytest.mark.parametrize("name", ["encoder.safetensors", "step-0/decoder.safetensors"])
def test_flipped_bits_in_weights_are_refused_and_the_way_back_is_named(model, name):
    held = bytearray((model / name).read_bytes())
    held[-5] ^= 0x40
    (model / name).write_bytes(held)
    with pytest.raises(RecallsegError, match=r"is damaged: .*`recallseg rollback`"):
        Predictor.open(model)


def test_a_damaged_step_0_of_the_cache_is_trained_again(first, tmp_path, monkeypatch):
    monkeypatch.setenv("RECALLSEG_CACHE", str(tmp_path / "cache"))
    for name in ("one", "two"):
        learn(tmp_path / name, first / "a", overrides=SHORT, source="none")
        for path in cache_root().glob("step-0/*/*.safetensors"):
            held = bytearray(path.read_bytes())
            held[-5] ^= 0x40
            path.write_bytes(held)
    assert weights(tmp_path / "one", 0) == weights(tmp_path / "two", 0)


def test_damaged_features_of_the_cache_are_made_anew(first, tmp_path, monkeypatch):
    models = {}
    for name in ("sound", "damaged"):
        monkeypatch.setenv("RECALLSEG_CACHE", str(tmp_path / "cache"))
        models[name] = tmp_path / name
        shutil.copytree(first / "model", models[name])
        learn(models[name], first / "cow", **ALONE, overrides=["bank.keep=true"])
        for path in cache_root().glob("bank/*/features.f16"):
            held = bytearray(path.read_bytes())
            held[::7] = bytes(len(held[::7]))
            path.write_bytes(held)
    assert weights(models["sound"]) == weights(models["damaged"])


def test_a_received_model_contacts_only_whom_the_command_names(first, model):
    folder = RunFolder(model)
    values = folder.config.model_dump(mode="json")
    values["replay"] |= {"source": "web", "web": {"base_url": "http://stranger.example/"}}
    folder.write_config(type(folder.config).model_validate(values))
    with pytest.raises(RecallsegError, match=r"contact http://stranger.example/, which you did"):
        learn(model, first / "cow")
    learn(model, first / "cow", **ALONE)


def test_a_step_whose_weights_are_gone_is_not_learned_from_nothing(first, model):
    learn(model, first / "cow", **ALONE)
    (model / "step-0/decoder.safetensors").unlink()
    assert Predictor.open(model).step == 1
    gone = r"step 0 .* are missing, and its photos are not there"
    with pytest.raises(RecallsegError, match=gone):
        learn(model, first / "hen", **ALONE)


def test_an_earlier_step_does_not_answer_for_one_whose_weights_are_gone(first, model):
    learn(model, first / "cow", **ALONE)
    (model / "step-1/decoder.safetensors").unlink()
    with pytest.raises(RecallsegError, match=r"step-1/decoder.safetensors is missing"):
        Predictor.open(model)
    assert Predictor.open(model, 0).step == 0


def test_a_call_killed_after_its_weights_were_written_still_comes_to_its_end(first, model):
    class KilledError(BaseException):
        pass

    def killed(*_):
        raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recallseg.runs.taught_folder.TaughtFolder.write_call", killed)
        with pytest.raises(KilledError):
            learn(model, first / "cow", **ALONE)
    before = weights(model)
    with pytest.raises(RecallsegError, match="has not finished learning cow"):
        learn(model, first / "hen", **ALONE)
    learn(model, first / "cow", **ALONE)
    assert (model / "step-1/call.json").is_file()
    assert weights(model) == before
    with pytest.raises(RecallsegError, match="knows cow already"):
        learn(model, first / "cow", **ALONE)


@pytest.mark.parametrize("spoil", [Path.mkdir, lambda path: path.symlink_to("nothing")])
def test_a_helper_that_is_no_file_is_not_trained_from_nothing(first, model, spoil):
    learn(model, first / "cow", **ALONE)
    (model / "step-1/helper.safetensors").unlink()
    spoil(model / "step-1/helper.safetensors")
    with pytest.raises(RecallsegError, match="has not finished learning cow"):
        learn(model, first / "hen", **ALONE)
