"""The table of ratios is whole; whether its numbers are good is not for tests."""

import json
import math

import pytest
from commands import recallseg
from tiny import tiny_config

from recallseg.config import dump_config
from recallseg.experiments.parts import bench_parts
from recallseg.experiments.timing import in_turns

KINDS = ["bank", "bank", "steps", "encode", "encode", "evaluate", "evaluate", *["classes"] * 3]


def test_pieces_of_work_are_timed_in_turns_after_one_to_warm_up():
    done = []
    times = in_turns({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, rounds=2)
    assert done == ["a", "b"] * 3
    assert set(times) == {"a", "b"}


def test_the_parts_of_a_run_are_compared_with_what_they_cannot_do_without(tmp_path):
    ratios = bench_parts(tiny_config(tmp_path / "voc"), photos=4, iterations=2)
    assert [name.partition(":")[0] for name in ratios] == KINDS
    assert all(map(math.isfinite, ratios.values()))
    assert "bank: the same over 16 iterations, encoding included" in ratios


@pytest.mark.slow
def test_bench_without_a_name_prints_one_table(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(dump_config(tiny_config(tmp_path / "voc")))
    told = recallseg("bench", "--config", path, "--photos", 4, "-o", tmp_path / "all.json")
    assert told.returncode == 0, told.stderr
    numbers = json.loads((tmp_path / "all.json").read_text())
    kinds = {name.partition(":")[0] for name in numbers["ratios"]}
    assert kinds == {*KINDS, "predict", "serve", "processes", "cores"}
    assert all(name in " ".join(told.stdout.split()) for name in ("≥ 10", "≤ 1.2", "≤ 1.15"))
