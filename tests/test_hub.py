"""A model goes to a hub and comes back; the hub is a server on this machine."""

import shutil

import numpy as np
import pytest
from commands import recallseg
from drawn import draw_pair, write_folder
from hub_server import TOKEN, Hub
from running import running
from tiny import TINY_SETTINGS

from recallseg import Learner
from recallseg.errors import RecallsegError
from recallseg.runs.folder import RunFolder


@pytest.fixture(scope="module")
def hub():
    hub = Hub()
    with running(hub.app) as hub.address:
        yield hub


@pytest.fixture
def model(learned, tmp_path):
    shutil.copytree(learned / "plain", tmp_path / "mine/model")
    folder = RunFolder(tmp_path / "mine/model")
    folder.write_replay_images([{"class_name": "cow", "page": str(tmp_path), "rejected": None}])
    samples = folder.step(0).samples
    samples.mkdir()
    (samples / "a.jpg").write_bytes(b"a photo that a method stored")
    return Learner.open(folder.path)


def test_a_model_comes_back_as_it_went(hub, model, tmp_path):
    address = model.push_to_hub("me/first", private=True, token=TOKEN, endpoint=hub.address)
    assert address == f"{hub.address}/me/first/commit/{'a' * 40}"
    assert hub.private["me/first"] == "private"
    found = Learner.from_pretrained("me/first", out=tmp_path / "back", endpoint=hub.address)
    photo = draw_pair([1, 2], size=(60, 40))[0]
    for step in range(3):
        one, other = model.predict(photo, step), found.predict(photo, step)
        np.testing.assert_array_equal(one.mask, other.mask)
        assert one.class_names == other.class_names
    assert not list(found.path.rglob(".*"))
    assert Learner.from_pretrained(found.path).class_names == model.class_names


def test_neither_photos_nor_places_are_given_away(hub, model, tmp_path):
    model.push_to_hub("me/private", token=TOKEN, endpoint=hub.address)
    files = hub.repos["me/private"]
    assert {path for path in files if not path.endswith(".safetensors")} == {
        *("config.yaml", "classes.json", "result.json", "README.md", "replay/manifest.jsonl"),
        *(f"step-{step}/{name}.json" for step in range(3) for name in ("metrics", "proof")),
        "checksums.json",
    }
    assert files["README.md"].startswith(b"---\nlibrary_name: recallseg\n")
    for path, data in files.items():
        assert str(tmp_path).encode() not in data, path
        assert b"pytest" not in data, path


def test_steps_that_are_gone_disappear_from_the_hub(hub, model):
    model.push_to_hub("me/shorter", token=TOKEN, endpoint=hub.address)
    assert "step-2/decoder.safetensors" in hub.repos["me/shorter"]
    model.rollback(to=0)
    model.push_to_hub("me/shorter", token=TOKEN, endpoint=hub.address)
    assert {path[:6] for path in hub.repos["me/shorter"] if path.startswith("step")} == {"step-0"}


def test_the_commands_say_where_the_model_is(hub, model, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    words = ("--endpoint", hub.address)
    pushed = recallseg("hub", "push", model.path, "me/told", "--message", "Second try", *words)
    assert pushed.stdout.strip().startswith(f"{hub.address}/me/told/commit/")
    assert hub.messages[-1] == "Second try"
    pulled = recallseg("hub", "pull", "me/told", "-o", tmp_path / "told", *words)
    assert pulled.stdout.strip() == str(tmp_path / "told")
    again = recallseg("hub", "pull", "me/told", "-o", tmp_path / "told", *words)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_what_was_pulled_goes_on_learning(hub, tmp_path):
    for name in ("cat", "cow"):
        write_folder(tmp_path / name, {f"p{i}": [1] for i in range(6)}, ["background", name])
    given = Learner.open(tmp_path / "given")
    given.learn(tmp_path / "cat", source="none", **TINY_SETTINGS)
    given.push_to_hub("me/cats", token=TOKEN, endpoint=hub.address)
    shutil.rmtree(given.path)
    shutil.rmtree(tmp_path / "cat")
    taken = Learner.from_pretrained("me/cats", out=tmp_path / "taken", endpoint=hub.address)
    taken.learn(tmp_path / "cow", source="none", allow_forgetting=True)
    assert taken.class_names == ("background", "cat", "cow")


def test_what_goes_wrong_is_a_sentence(hub, model, tmp_path):
    place = {"endpoint": hub.address, "out": tmp_path / "back"}
    with pytest.raises(RecallsegError, match="hub has no me/nothing that you may see"):
        Learner.from_pretrained("me/nothing", **place)
    with pytest.raises(RecallsegError, match="is no name on a hub"):
        Learner.from_pretrained("a/b/c", **place)
    with pytest.raises(RecallsegError, match="log in with `hf auth login`"):
        model.push_to_hub("me/first", token="wrong", endpoint=hub.address)
    hub.repos["me/other"] = {"README.md": b"another kind of model", "pickle.bin": b"x"}
    with pytest.raises(RecallsegError, match=r"me/other holds no model of recallseg"):
        Learner.from_pretrained("me/other", **place)
    hub.repos["me/half"] = {"config.yaml": RunFolder(model.path).settings.read_bytes()}
    hub.repos["me/half"]["classes.json"] = (model.path / "classes.json").read_bytes()
    with pytest.raises(RecallsegError, match="me/half is not a whole model"):
        Learner.from_pretrained("me/half", **place)
    assert not (tmp_path / "back").exists()
    with pytest.raises(RecallsegError, match="could not be reached"):
        Learner.from_pretrained("me/first", endpoint="http://127.0.0.1:9", out=tmp_path / "back")
