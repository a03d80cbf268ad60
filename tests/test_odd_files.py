"""Full disks, odd encodings and dead links end in a sentence."""

import os
import subprocess

import pytest
import torch
from commands import recallseg
from drawn import write_folder
from torch import nn

from recallseg.data import open_dataset
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path, read_text
from recallseg.model.saving import load_weights, save_weights


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for a few kilobytes."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a file system that is full")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_disk_that_is_full_is_one_sentence_and_loses_nothing(small_disk):
    small, large = nn.Linear(10, 10), nn.Linear(400, 400)
    path = small_disk / "weights.safetensors"
    save_weights(path, small)
    with pytest.raises(RecallsegError, match="is full; free some space"):
        save_weights(path, large)
    with (
        pytest.raises(RecallsegError, match="is full; free some space"),
        atomic_path(small_disk / "training.pt") as temporary,
    ):
        torch.save(large.state_dict(), temporary)
    load_weights(path, small)
    assert [each.name for each in small_disk.iterdir()] == ["weights.safetensors"]


def test_class_names_are_read_with_a_mark_and_refused_in_other_encodings(tmp_path):
    root = write_folder(tmp_path / "data", {"p": [1]}, ["Kühe"])
    (root / "classes.txt").write_bytes("\ufeffKühe\n".encode())
    assert open_dataset("folder", "train", root).classes == ("background", "Kühe")
    (root / "classes.txt").write_bytes("Kühe\n".encode("latin-1"))
    with pytest.raises(RecallsegError, match=r"classes.txt is not text in UTF-8: byte 0xfc at"):
        open_dataset("folder", "train", root)
    answer = recallseg("data", "check", root)
    assert answer.returncode == 2


def test_names_that_are_not_utf_8_are_refused(tmp_path):
    root = write_folder(tmp_path / "data", {"p": [1]}, ["cow"])
    (root / "images/p.png").rename(root / "images" / os.fsdecode(b"\xff.png"))
    with pytest.raises(RecallsegError, match="is not in UTF-8; rename the file"):
        open_dataset("folder", "train", root)


def test_a_link_to_nothing_is_named(tmp_path):
    root = write_folder(tmp_path / "data", {"p": [1], "q": [1]}, ["cow"])
    (root / "images/q.png").unlink()
    (root / "images/q.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(RecallsegError, match=r"q.png does not exist, or is a link to nothing"):
        open_dataset("folder", "train", root).signature()


@pytest.mark.parametrize("word", ["seed=${seed}", "optim.lr=.inf", "optim.lr=.nan"])
def test_odd_settings_are_refused(tmp_path, word):
    (tmp_path / "a.yaml").write_text("seed: 1\n")
    answer = recallseg("config", tmp_path / "a.yaml", word)
    assert answer.returncode == 2
    (tmp_path / "a.yaml").write_text("extends: 3\n")
    assert recallseg("config", tmp_path / "a.yaml").returncode == 2


def test_text_says_where_it_is_not_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"ab\xff")
    with pytest.raises(RecallsegError, match="byte 0xff at position 2"):
        read_text(tmp_path / "a.txt")
