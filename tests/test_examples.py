"""The examples, as a newcomer runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name, *words):
    command = [sys.executable, str(EXAMPLES / name), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_add_a_class(tmp_path):
    told = example("add_a_class.py", tmp_path)
    assert "knows bus, cat, sheep, cow" in told
    assert "step 0: bus, cat, sheep, from 30 photos" in told
    assert "step 1: cow, from 12 photos" in told


def test_a_method_of_ones_own_and_what_it_came_to(tmp_path):
    told = example("new_method.py", tmp_path)
    assert told.startswith("ft {")
    assert "\nanchored {" in told
    read = example("read_a_run.py", tmp_path / "ft", tmp_path / "anchored")
    assert "forgot most of:" in read
    assert r"\begin{tabular}" in read


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short(path):
    assert len(path.read_text().splitlines()) < 80
