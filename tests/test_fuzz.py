"""The tools that damage and kill, a short round of each; `python tools/fuzz.py` does more."""

import importlib.util
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


def tool(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_damaged_folders_are_refused_or_answer_as_sound_ones_do(tmp_path):
    fuzzer = tool("fuzz").Fuzzer(tmp_path, seconds=600)
    problems = [line for number in range(5) for line in fuzzer.case(number, seed=7)]
    assert not problems


def test_kills_change_nothing(tmp_path):
    shares = {"learn": 100, "rollback": 300}
    result = tool("kills").kill_all(tmp_path, 1, seed=7, shares=shares)
    assert not result["problems"]
    assert result["kills"] >= 1


@pytest.mark.slow
def test_two_commands_at_once_are_right_or_refused(tmp_path):
    names = ("learn c", "rollback", "cache clear")
    assert not tool("kills").all_pairs(tmp_path, names)["problems"]


@pytest.mark.slow
def test_many_kills_change_nothing(tmp_path):
    module = tool("kills")
    assert not module.kill_all(tmp_path, 100, seed=0, shares=module.SHARES)["problems"]
