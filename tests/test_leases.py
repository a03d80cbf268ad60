"""Two commands at once: the second waits for the first, or ends in a sentence."""

import os
import subprocess
import sys
import threading

import pytest
from commands import recallseg

from recallseg.errors import RecallsegError
from recallseg.files import cache_root
from recallseg.leases import alone, cache_in_use, cache_unused, in_turn

HOLDER = """
import sys, time
from pathlib import Path
from recallseg.leases import alone, cache_in_use
with alone(Path(sys.argv[1]), "held by"), cache_in_use():
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds a lease, and uses the cache."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lease")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_lease_is_held_once_and_taken_over_from_the_dead(tmp_path, holder):
    with (
        pytest.raises(RecallsegError, match=rf"in use by process {holder.pid} on .*wait for it"),
        alone(tmp_path / "lease", "in use by"),
    ):
        pytest.fail("held twice")
    holder.kill()
    holder.wait()
    with alone(tmp_path / "lease", "in use by"), alone(tmp_path / "lease", "in use by"):
        assert (tmp_path / "lease").is_file()
    assert not (tmp_path / "lease").exists()


@pytest.mark.parametrize("way", [alone, in_turn])
def test_a_lease_of_a_process_killed_before_it_wrote_its_name_is_taken_over(
    tmp_path, monkeypatch, way
):
    monkeypatch.setattr("recallseg.leases.EMPTY_SECONDS", 0.1)
    lease = tmp_path / "lease"
    lease.touch()
    with way(lease, "held by", lambda _: None):
        assert lease.stat().st_size > 0
    assert list(tmp_path.iterdir()) == []


def test_a_cache_in_use_is_not_emptied(holder):
    (cache_root() / "bank" / "some").mkdir(parents=True)
    answer = recallseg("cache", "clear")
    assert answer.returncode == 2
    assert f"is in use by process {holder.pid} " in answer.stderr
    assert (cache_root() / "bank" / "some").is_dir()
    holder.kill()
    holder.wait()
    assert recallseg("cache", "clear").returncode == 0
    assert not (cache_root() / "bank").exists()


def test_what_a_living_process_writes_is_not_swept(holder):
    scratch = cache_root() / "bank" / ".some.tmp"
    scratch.mkdir(parents=True)
    os.utime(scratch, (0, 0))
    with cache_in_use():
        assert scratch.is_dir()
    holder.kill()
    holder.wait()
    fresh = scratch.with_name(".other.tmp")
    fresh.mkdir()
    with cache_in_use():
        assert not scratch.exists()
        assert fresh.is_dir()


def test_the_second_waits_for_its_turn(tmp_path):
    order, said, begun = [], [], threading.Event()

    def second():
        with in_turn(tmp_path / "a" / "lease", "waiting for", said.append):
            order.append("second")

    thread = threading.Thread(target=second)
    with in_turn(tmp_path / "a" / "lease", "waiting for", begun.set):
        thread.start()
        thread.join(1.5)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert said[0].startswith("waiting for process ")


def test_who_comes_while_the_cache_is_emptied_waits(tmp_path):
    order = []

    def second():
        with cache_in_use():
            order.append("used")

    thread = threading.Thread(target=second)
    with cache_unused():
        thread.start()
        thread.join(0.3)
        order.append("emptied")
    thread.join()
    assert order == ["emptied", "used"]
