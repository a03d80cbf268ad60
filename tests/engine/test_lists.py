"""Runs on lists of photos: what the lists hold is part of what a run is."""

import shutil

import pytest
from tiny import STEPS, tiny_config
from trainers import no_training

from recallseg.engine.runner import run
from recallseg.engine.session.data import RunData
from recallseg.engine.session.shared import step_0_key
from recallseg.errors import RecallsegError
from recallseg.methods import Method
from recallseg.runs.folder import RunFolder
from recallseg.runs.settings import folder_name

STEMS = list(STEPS["train_aug"])
LISTS = [
    [stem for stem in STEMS if not stem.startswith(("c19", "c20"))],
    ["c190", "c191", "a0"],
    ["c200"],
]


def write_lists(folder, lists=LISTS):
    folder.mkdir(parents=True, exist_ok=True)
    for step, stems in enumerate(lists):
        (folder / f"train-{step}.txt").write_text("\n".join(stems))
    return folder


def config_with(tmp_path, folder="lists", lists=LISTS, **changes):
    listed = write_lists(tmp_path / folder, lists)
    changes = {"optim__iterations_per_class": 0.5, "increment__iterations_per_class": 1} | changes
    return tiny_config(tmp_path / "voc", scenario__lists=str(listed), **changes)


def key_of(config):
    data = RunData.open(config)
    return step_0_key(config, data.scenario, data.train, Method)


def test_a_run_learns_from_the_lists_and_knows_them_by_content(tmp_path):
    config = config_with(tmp_path)
    run(config, tmp_path / "run")
    about = RunFolder(tmp_path / "run").learned()
    assert about["photos"] == [len(stems) for stems in LISTS]

    moved = config_with(tmp_path, "elsewhere", [[*reversed(stems)] for stems in LISTS])
    shutil.rmtree(tmp_path / "lists")
    run(moved, tmp_path / "run", trainer=no_training)

    changed = config_with(tmp_path, "elsewhere", [*LISTS[:2], ["c200", "c201"]])
    with pytest.raises(RecallsegError, match=r"it differs in what scenario\.lists hold"):
        run(changed, tmp_path / "run")
    with pytest.raises(RecallsegError, match=r"it differs in scenario\.lists\."):
        run(tiny_config(tmp_path / "voc", **changes_of(config)), tmp_path / "run")


def changes_of(config):
    """What `config_with` changes beside the lists."""
    return {
        "optim__iterations_per_class": config.optim.iterations_per_class,
        "increment__iterations_per_class": config.increment.iterations_per_class,
    }


def test_step_0_is_shared_by_lists_that_begin_alike(tmp_path):
    one = config_with(tmp_path, "one")
    other_end = config_with(tmp_path, "two", [*LISTS[:2], ["c200", "c201"]])
    other_start = config_with(tmp_path, "three", [LISTS[0][1:], *LISTS[1:]])
    assert key_of(one) == key_of(other_end) != key_of(other_start)


def test_a_folder_is_named_for_what_lists_hold(tmp_path):
    names = [
        folder_name(tmp_path / "ft.yaml", config_with(tmp_path, folder, lists))
        for folder, lists in (("one", LISTS), ("two", LISTS), ("three", LISTS[::-1]))
    ]
    assert names[0] == names[1] != names[2]


def test_bad_lists_stop_a_run_before_training(tmp_path):
    config = config_with(tmp_path, lists=[*LISTS[:2], ["c200", "gone"]])
    with pytest.raises(RecallsegError, match="names 'gone', which is no photo"):
        run(config, tmp_path / "run", trainer=no_training)
    assert not (tmp_path / "run").exists()
