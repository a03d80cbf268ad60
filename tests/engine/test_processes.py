"""One run in several processes, on machines of their own or not, is the run in one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from launched import free_port, launch, run_noting, sequences
from safetensors.torch import load_file
from tiny import three_classes

from recallseg.config import dump_config, load_config
from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.leases import is_first_process

KINDS = ("step", "helper")
STILL = {"lr": 1e-30, "end_lr": 0.0, "batch": 5, "iterations_per_class": 3}
"""So small a rate changes no weight, so that processes must see the same bytes in everything."""


def ended(outcomes):
    assert [each.code for each in outcomes] == [0] * len(outcomes), (
        outcomes[0].err + outcomes[1].err
    )


def test_four_processes_draw_the_samples_of_one_and_each_only_its_own(tmp_path):
    changes = {"optim": STILL, "increment": STILL, "helper__optim": STILL}
    one = three_classes(tmp_path / "data", **changes)
    run_noting(one, tmp_path / "one", tmp_path / "notes-1")
    four = three_classes(tmp_path / "data", nodes=2, devices=2, accelerator="cpu", **changes)
    bank = {"RECALLSEG_BANK": str(tmp_path / "own-disk"), "RECALLSEG_CACHE": str(tmp_path / "c")}
    work = lambda: run_noting(four, tmp_path / "four", tmp_path / "notes-4")  # noqa: E731
    ended(launch(work, 2, 2, **bank))
    expected = sequences(tmp_path / "notes-1")
    assert {name for name, _ in expected} == {f"{kind} {k}" for kind in KINDS for k in range(3)}
    assert sequences(tmp_path / "notes-4") == expected
    assert len(list((tmp_path / "notes-4").iterdir())) == 4
    assert list((tmp_path / "own-disk").glob("*/features.f16"))
    assert not (tmp_path / "c/bank").exists()
    scores = [json.loads((tmp_path / name / "result.json").read_text()) for name in ("one", "four")]
    assert scores[0]["steps"] == scores[1]["steps"]


@pytest.mark.slow
def test_two_launchers_of_torchrun_with_two_processes_each(tmp_path):
    """As on two machines, but both of them are this one."""
    changes = {"optim": STILL, "increment": STILL, "helper__optim": STILL}
    learning = {**STILL, "lr": 0.002, "end_lr": 0.001}
    moving = {"optim": learning, "increment": learning, "helper__optim": learning}
    for name, settings in {"still": changes, "moving": moving}.items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(dump_config(three_classes(tmp_path / "data", **settings)))
        run_noting(load_config(path, []), tmp_path / f"{name}-1", tmp_path / f"{name}-notes-1")
        torchrun(path, tmp_path / f"{name}-4", tmp_path / f"{name}-notes-4")
    assert sequences(tmp_path / "still-notes-4") == sequences(tmp_path / "still-notes-1")
    for name, most in {"still": 0.0, "moving": 1.0}.items():
        one, four = (
            json.loads((tmp_path / f"{name}-{count}/result.json").read_text())["steps"]
            for count in (1, 4)
        )
        for a, b in zip(one, four, strict=True):
            assert abs(a["miou"]["all"] - b["miou"]["all"]) <= most
            assert a["pixels"] == b["pixels"]


def torchrun(config, folder, notes):
    """One run in four processes of two launchers."""
    words = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nnodes",
        "2",
        "--nproc-per-node",
        "2",
    ]
    words += ["--master-addr", "127.0.0.1", "--master-port", str(free_port())]
    script = Path(__file__).parents[1] / "support/launched.py"
    settings = ["nodes=2", "devices=2", "accelerator=cpu"]
    cache = os.environ | {"RECALLSEG_CACHE": str(folder.with_suffix(".cache"))}
    launchers = [
        subprocess.Popen(
            [*words, "--node-rank", rank, script, config, folder, notes, *settings], env=cache
        )
        for rank in ("0", "1")
    ]
    assert [each.wait() for each in launchers] == [0, 0]


@pytest.mark.parametrize(
    "method",
    [
        {"method__name": "recall"},
        {"method__name": "sdr", "method__train_encoder": True, "replay__source": "none"},
    ],
    ids=["recall", "sdr"],
)
def test_three_processes_learn_what_one_does_up_to_rounding(tmp_path, method):
    optim = {"lr": 0.002, "end_lr": 0.001, "batch": 4, "iterations_per_class": 3}
    changes = {"optim": optim, "increment": optim, "helper__optim": optim} | method
    run(three_classes(tmp_path / "data", **changes), tmp_path / "one")
    three = three_classes(tmp_path / "data", devices=3, accelerator="cpu", **changes)
    cache = str(tmp_path / "cache")
    ended(launch(lambda: run(three, tmp_path / "three"), 1, 3, RECALLSEG_CACHE=cache))
    files = [
        path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.safetensors")
    ]
    assert len(files) > 3
    for name in files:
        alone, shared = load_file(tmp_path / "one" / name), load_file(tmp_path / "three" / name)
        for key, values in alone.items():
            assert (values.float() - shared[key].float()).abs().max() < 1e-4, (name, key)


def test_processes_that_the_settings_do_not_know_of_are_refused(tmp_path, monkeypatch):
    for name, value in {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "4", "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        RecallsegError, match="4 processes were started, but the settings ask for 1"
    ):
        run(three_classes(tmp_path / "data"), tmp_path / "run")
    with pytest.raises(RecallsegError, match="batch of 4 is too small to be shared by 6 processes"):
        three_classes(tmp_path / "data", devices=3, nodes=2)


@pytest.mark.parametrize(
    ("variables", "is_first"),
    [
        ({}, True),
        ({"RANK": "1", "LOCAL_RANK": "0"}, False),
        ({"SLURM_PROCID": "2", "LOCAL_RANK": "0"}, False),
        ({"RANK": "0", "SLURM_PROCID": "1"}, True),
        ({"NODE_RANK": "1"}, False),
        ({"NODE_RANK": "0", "LOCAL_RANK": "1"}, False),
    ],
)
def test_the_first_process_is_known_however_it_was_started(monkeypatch, variables, is_first):
    for name in ("RANK", "SLURM_PROCID", "NODE_RANK", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "environ", os.environ | variables)
    assert is_first_process() is is_first
