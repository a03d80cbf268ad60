"""Records of run folders that are not what they should be end in a sentence."""

import json
import zipfile
from pathlib import Path

import pytest

from recallseg.data.pictures import Pictures
from recallseg.errors import RecallsegError
from recallseg.runs.folder import RunFolder

CLASSES = {"channels": ["background", "cat"], "steps": [["cat"]], "initial": 1}
SCORES = {"step": 0, "classes": ["cat"], "miou": {"all": 1.0}, "iou": {}, "pixel_accuracy": {}}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"channels": ["background"]',
        json.dumps(CLASSES | {"steps": None}).encode(),
        json.dumps(CLASSES | {"initial": "1"}).encode(),
        b"[" * 100_000,
        json.dumps(CLASSES | {"channels": ["background", "cat", "dog"]}).encode(),
        json.dumps(CLASSES | {"channels": ["cat", "cat"]}).encode(),
        json.dumps(CLASSES | {"initial": 2}).encode(),
    ],
)
def test_broken_classes_are_told(tmp_path, text):
    (tmp_path / "classes.json").write_bytes(text)
    with pytest.raises(RecallsegError, match=r"classes.json cannot be read"):
        RunFolder(tmp_path).learned()


def test_sound_records_are_read_as_they_were_written(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_classes(CLASSES)
    folder.write_scores(0, SCORES)
    assert (folder.learned(), folder.scores(0)) == (CLASSES, SCORES)


@pytest.mark.parametrize("scores", [SCORES | {"miou": {"all": "high"}}, {"step": 0}, 3])
def test_broken_scores_are_told(tmp_path, scores):
    path = tmp_path / "step-0" / "metrics.json"
    path.parent.mkdir()
    path.write_text(json.dumps(scores))
    with pytest.raises(RecallsegError, match=r"metrics.json cannot be read"):
        RunFolder(tmp_path).scores(0)


@pytest.mark.parametrize("spoil", [Path.mkdir, lambda path: path.symlink_to("nothing")])
def test_what_is_no_file_is_told(tmp_path, spoil):
    (tmp_path / "step-0").mkdir()
    spoil(tmp_path / "step-0" / "metrics.json")
    with pytest.raises(RecallsegError, match=r"metrics.json is not a file"):
        RunFolder(tmp_path).scores(0)


def test_a_last_step_that_lost_its_decoder_is_told(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_classes(CLASSES)
    folder.write_scores(0, SCORES)
    with pytest.raises(RecallsegError, match=r"decoder.safetensors is missing.*rollback"):
        folder.check_last_step()
    folder.step(0).decoder.touch()
    folder.check_last_step()
    folder.step(1).path.mkdir()
    folder.check_last_step()


def test_lines_of_the_manifest_are_checked_but_for_one_that_was_cut_off(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_replay_images([{"class_name": "cat", "rejected": None}])
    with folder.manifest.open("a") as file:
        file.write('{"class_na')
    assert [entry["class_name"] for entry in folder.replay_images()] == ["cat"]
    folder.manifest.write_text('{"class_name": 3}\n{"class_name": "cat"}\n')
    with pytest.raises(RecallsegError, match=r"Line 1 of .*manifest.jsonl cannot be read"):
        list(folder.replay_images())


@pytest.mark.parametrize("damage", ["no zip", "no picture", "half a picture"])
def test_broken_archives_of_pictures_are_told(tmp_path, damage):
    path = tmp_path / "seen.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.png", b"\x89PNG" if damage == "half a picture" else b"")
    if damage == "no zip":
        path.write_bytes(path.read_bytes()[:10])
    name = "b" if damage == "no picture" else "a"
    with pytest.raises(RecallsegError, match=r"seen.zip cannot be read"):
        Pictures(path).mask(name)
    assert Pictures(tmp_path / "nothing.zip").names() == []
