"""Commands at once on one folder and one cache end as they do alone, or in a sentence."""

import json
import time

import pytest
from children import Child, recallseg
from tiny import three_classes
from tiny_life import answer

from recallseg.config import dump_config

OPTIM = {"lr": 0.02, "end_lr": 0.001, "batch": 4, "iterations_per_class": 2}


@pytest.fixture(scope="module")
def configs(tmp_path_factory):
    """Two runs that begin alike, as files, and what each leaves when it has a cache of its own."""
    root = tmp_path_factory.mktemp("alone")
    changes = {"optim": OPTIM, "increment": OPTIM, "helper__optim": OPTIM, "checkpoint_seconds": 0}
    ways = {
        "one": {"replay__images_per_class": 3},
        "two": {"method__name": "ft", "replay__source": "none"},
    }
    for name, way in ways.items():
        path = root / f"{name}.yaml"
        path.write_text(dump_config(three_classes(root / "data", **changes | way)))
        ended = recallseg("run", path, "-o", root / name, RECALLSEG_CACHE=str(root / f"c-{name}"))
        assert ended.code == 0, ended.err
    return root


def left(folder):
    [run] = folder.iterdir()
    return answer(run)


def started(words, cache, sign):
    """A command that has come so far that there is a `sign` of it."""
    child = Child(words, {"RECALLSEG_CACHE": str(cache)})
    while not sign() and not child.ended():
        time.sleep(0.002)
    return child


def test_the_second_of_two_identical_runs_ends_in_a_sentence(configs, tmp_path):
    words = ["run", configs / "one.yaml", "-o", tmp_path / "runs"]
    first = started(words, tmp_path / "cache", lambda: list(tmp_path.glob("runs/*/config.yaml")))
    second = recallseg(*words, RECALLSEG_CACHE=str(tmp_path / "cache"))
    assert first.outcome().code == 0
    assert second.code == 2
    assert f"is being worked on by process {first.pid} on " in second.err
    assert left(tmp_path / "runs") == left(configs / "one")


def test_two_runs_fill_one_empty_cache_together(configs, tmp_path):
    children = [
        Child(
            ["run", configs / f"{name}.yaml", "-o", tmp_path / name],
            {"RECALLSEG_CACHE": str(tmp_path / "cache")},
        )
        for name in ("one", "two")
    ]
    for child in children:
        ended = child.outcome()
        assert ended.code == 0, ended.err
    trained = []
    for name in ("one", "two"):
        assert left(tmp_path / name) == left(configs / name)
        [journal] = (tmp_path / name).glob("*/metrics.jsonl")
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        trained.append(any(line["phase"] == "step 0" for line in lines))
    assert sum(trained) == 1


def test_a_cache_is_not_emptied_under_a_run(configs, tmp_path):
    cache = tmp_path / "cache"
    words = ["run", configs / "one.yaml", "-o", tmp_path / "runs"]
    run = started(words, cache, lambda: list(cache.glob("bank/*/done.u8")))
    cleared = recallseg("cache", "clear", RECALLSEG_CACHE=str(cache))
    assert run.outcome().code == 0
    assert cleared.code == 2
    assert f"is in use by process {run.pid} on " in cleared.err
    assert left(tmp_path / "runs") == left(configs / "one")


def test_data_that_are_copied_anew_have_the_step_0_of_before(configs, tmp_path):
    """A copy has other places on disk and other times, and the same content."""
    import shutil

    from recallseg.config import load_config
    from recallseg.engine.session.shared import first_step_key

    shutil.copytree(configs / "data", tmp_path / "copy", copy_function=shutil.copyfile)
    here = load_config(configs / "two.yaml", [])
    there = load_config(configs / "two.yaml", [f"data.root={tmp_path / 'copy'}"])
    assert first_step_key(there) == first_step_key(here)
    masks = sorted((tmp_path / "copy/masks").iterdir())
    masks[0].write_bytes(masks[0].read_bytes() + b"\0")
    assert first_step_key(there) != first_step_key(here)
