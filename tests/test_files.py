import errno
import json

import pytest

from recallseg.errors import RecallsegError
from recallseg.files import atomic_path, cache_root, content_key, write_json


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "value.json"
    write_json(path, {"a": 1})

    def interrupted() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["value.json"]


def test_a_folder_that_another_process_made_meanwhile_stays(tmp_path):
    with atomic_path(tmp_path / "made") as scratch:
        for folder, text in ((scratch, "ours"), (tmp_path / "made", "theirs")):
            folder.mkdir()
            (folder / "a.txt").write_text(text)
    assert (tmp_path / "made/a.txt").read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_full_disk_is_one_sentence(tmp_path):
    with (
        pytest.raises(RecallsegError, match="is full; free some space"),
        atomic_path(tmp_path / "x"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_nan_is_refused_rather_than_written(tmp_path):
    with pytest.raises(ValueError):
        write_json(tmp_path / "x.json", float("nan"))
    assert not (tmp_path / "x.json").exists()


def test_the_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("RECALLSEG_CACHE", str(tmp_path / "a"))
    assert cache_root() == tmp_path / "a"
    monkeypatch.delenv("RECALLSEG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
    assert cache_root() == tmp_path / "b" / "recallseg"


def test_content_keys_differ_with_any_part():
    keys = {content_key(*parts) for parts in (("a", 1), ("a", 2), ("b", 1), ("a1",), ())}
    assert len(keys) == 5


def test_a_file_can_be_read_by_whom_the_umask_lets(tmp_path):
    (tmp_path / "usual").touch()
    with atomic_path(tmp_path / "new") as temporary:
        temporary.touch(mode=0o600)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
