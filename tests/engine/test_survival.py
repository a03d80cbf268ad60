"""Runs survive being killed, and do not depend on how many processes share them."""

import json
import os
import subprocess
import sys

import pytest
from children import recallseg
from kill_and_resume import compare
from tiny import three_classes, tiny_config

from recallseg.config import dump_config


@pytest.fixture
def config_file(tmp_path):
    config = tiny_config(
        tmp_path / "voc", checkpoint_seconds=0, optim__iterations_per_class=3, views__crop=65
    )
    path = tmp_path / "tiny.yaml"
    path.write_text(dump_config(config))
    return path


def test_a_run_killed_again_and_again_ends_with_the_same_numbers(config_file, tmp_path):
    killed = compare([str(config_file)], tmp_path / "kill")
    assert len(killed) == 5
    (run,) = (tmp_path / "kill/fire/runs").iterdir()
    assert not [path for path in run.rglob("*") if path.name.startswith(".")]
    assert not (run / "state").exists()


def test_a_run_with_a_full_bank_is_killed_and_ends_with_the_same_numbers(tmp_path):
    config = three_classes(tmp_path / "data", checkpoint_seconds=0, bank__budget_gb=0.000137)
    path = tmp_path / "full.yaml"
    path.write_text(dump_config(config))
    killed = compare([str(path)], tmp_path / "kill", ["encoding", "training"])
    assert killed == ["encoding", "training"]


def test_two_processes_count_every_photo_once(config_file, tmp_path):
    pixels = {}
    for devices in (1, 2):
        out, cache = tmp_path / f"runs-{devices}", str(tmp_path / f"cache-{devices}")
        words = ["run", str(config_file), "--out", str(out)]
        words += [f"devices={devices}", "accelerator=cpu", "checkpoint_seconds=60"]
        if devices == 1:
            ended = recallseg(*words, RECALLSEG_CACHE=cache)
            assert ended.code == 0, ended.err
        else:
            run = subprocess.run(
                [sys.executable, "-m", "recallseg", *words],
                capture_output=True,
                text=True,
                check=False,
                env=os.environ | {"RECALLSEG_CACHE": cache},
            )
            assert run.returncode == 0, run.stderr
        (folder,) = out.iterdir()
        steps = [json.loads((folder / f"step-{k}/metrics.json").read_text()) for k in range(3)]
        pixels[devices] = [step["pixels"] for step in steps]
    assert pixels[1] == pixels[2]
    assert pixels[1][2] == 21 * 24 * 19
