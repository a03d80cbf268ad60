"""What a folder keeps about its files, and what happens to those that are damaged."""

import json
import os
from pathlib import Path

import pytest

from recallseg.checksums import CHECKSUMS, DamagedError, check, is_damaged, seal
from recallseg.files import atomic_path, write_text


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "old.txt").write_text("was there")
    seal(tmp_path)
    write_text(tmp_path / "inner" / "new.txt", "new")
    return tmp_path


def test_files_that_were_written_pass_and_changed_ones_do_not(folder):
    assert check(folder / "old.txt").read_text() == "was there"
    assert check(folder / "inner/new.txt").read_text() == "new"
    assert not is_damaged(folder)
    (folder / "inner/new.txt").write_text("nev")
    with pytest.raises(DamagedError, match=r"new.txt is damaged: .*recallseg rollback"):
        check(folder / "inner/new.txt")
    assert is_damaged(folder)


def test_a_file_that_nobody_wrote_is_damaged_and_a_missing_one_makes_the_folder_so(folder):
    (folder / "strange.txt").touch()
    with pytest.raises(DamagedError):
        check(folder / "strange.txt")
    (folder / "old.txt").unlink()
    assert is_damaged(folder)


def test_a_kill_before_the_move_leaves_the_old_file_sound(folder, monkeypatch):
    monkeypatch.setattr("recallseg.files._move", lambda *_: None)
    write_text(folder / "inner/new.txt", "newer")
    assert check(folder / "inner/new.txt").read_text() == "new"
    monkeypatch.undo()
    write_text(folder / "inner/new.txt", "newer")
    assert check(folder / "inner/new.txt").read_text() == "newer"


def test_a_file_is_on_the_disk_before_it_takes_its_name(folder, monkeypatch):
    path, steps, replace = folder / "inner/new.txt", [], Path.replace

    def moved(self, target):
        steps.append(Path(target).name)
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", lambda handle: steps.append(os.fstat(handle).st_ino))
    monkeypatch.setattr(Path, "replace", moved)
    write_text(path, "newer")
    files = [each.stat().st_ino for each in (path, folder / CHECKSUMS, folder, path.parent)]
    assert steps == [*files[:2], CHECKSUMS, files[2], "new.txt", files[3]]


def test_a_folder_is_noted_file_by_file(folder):
    with atomic_path(folder / "step" / "samples") as scratch:
        scratch.mkdir()
        (scratch / "a.txt").write_text("a")
    names = json.loads((folder / CHECKSUMS).read_text())
    assert sorted(names) == ["inner/new.txt", "old.txt", "step/samples/a.txt"]
    assert check(folder / "step/samples/a.txt").is_file()


def test_a_broken_list_is_told_and_without_one_nothing_is_checked(folder):
    (folder / CHECKSUMS).write_text("{")
    with pytest.raises(DamagedError, match="delete the file"):
        check(folder / "old.txt")
    (folder / CHECKSUMS).unlink()
    (folder / "old.txt").write_text("changed on purpose")
    assert check(folder / "old.txt").is_file()
    assert not is_damaged(folder)
