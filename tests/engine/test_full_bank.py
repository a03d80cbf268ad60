"""Runs whose features do not all fit into the bank end like those whose features do."""

import shutil

import numpy as np
import pytest
from tiny import three_classes

from recallseg.engine.runner import run
from recallseg.files import cache_root
from recallseg.model.bank import bytes_on_disk

STEP_1, STEP_2 = 0.000137, 0.000238
"""GiB that are used up within step 1, or within step 2: before it, 2 or 4 sets of 12 photos."""
ON_THE_FLY = "encoded on the fly"


def learned(folder):
    """Every decoder and helper of a run, as bytes."""
    files = sorted(folder.glob("step-*/*.safetensors"))
    return {path.relative_to(folder): path.read_bytes() for path in files}


def stored_photos():
    """How many photos have training views in the bank."""
    done = (cache_root() / "bank").glob("*/done.u8")
    return sum(int(np.fromfile(path, np.uint8).sum()) for path in done)


@pytest.mark.parametrize(
    "settings",
    [
        {"replay__label_on": "views", "replay__inpaint": True},
        {"replay__label_on": "photos", "method__void": "inpaint"},
        {"replay__labels": "previous"},
    ],
    ids=["helpers label views", "helpers label photos", "the previous model labels"],
)
def test_what_fits_changes_no_number(tmp_path, capsys, settings):
    ends = {}
    for budget in (20, STEP_1, STEP_2):
        config = three_classes(tmp_path / "data", bank__budget_gb=budget, **settings)
        shutil.rmtree(cache_root() / "bank", ignore_errors=True)
        folder = tmp_path / f"run-{budget}"
        steps = run(config, folder)["steps"]
        ends[budget] = [step["iou"] for step in steps], learned(folder)
        told = capsys.readouterr().err
        assert (ON_THE_FLY in told) == (budget < 1)
    assert len(ends[20][0]) == 3
    assert ends[STEP_1] == ends[20]
    assert ends[STEP_2] == ends[20]


def test_what_does_not_fit_is_told_once_in_each_step(tmp_path, capsys):
    run(three_classes(tmp_path / "data", bank__budget_gb=STEP_1), tmp_path / "run")
    told = [line for line in capsys.readouterr().err.splitlines() if ON_THE_FLY in line]
    assert [line.split(":")[0] for line in told] == ["step 1", "step 2"]
    assert "of 24 photos fit into bank.budget_gb=0.000137;" in told[0]
    assert "of 36 photos fit" in told[1]


def test_validation_photos_leave_room_for_training(tmp_path, capsys):
    """Nine photos of 240×200 would take more than a quarter of 644 kB, which hold all that training
    needs beside it."""
    ends = {}
    for budget in (20, 0.0006):
        config = three_classes(tmp_path / "data", (240, 200), bank__budget_gb=budget)
        shutil.rmtree(cache_root() / "bank", ignore_errors=True)
        ends[budget] = run(config, tmp_path / f"run-{budget}")["steps"]
    assert ends[20] == ends[0.0006]
    assert stored_photos() == 36 + 24
    native = bytes_on_disk(cache_root() / "bank", "*.safetensors")
    assert 0 < native <= 0.0006 * 2**30 / 4 + 4096
    told = [line for line in capsys.readouterr().err.splitlines() if ON_THE_FLY in line]
    assert [line.split(":")[0] for line in told] == [f"evaluate step {k}" for k in range(3)]


def test_features_that_are_deleted_make_room(tmp_path, capsys):
    config = three_classes(tmp_path / "data", bank__budget_gb=0.000216, bank__keep=False)
    run(config, tmp_path / "run")
    assert ON_THE_FLY not in capsys.readouterr().err
