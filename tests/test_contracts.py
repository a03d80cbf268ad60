"""The import contracts hold here, and would catch a breach."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(root / "src"), "PATH": ""},
    )


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in ("losses", "engine"):
        (tmp_path / "src/recallseg" / room).mkdir(exist_ok=True)
        (tmp_path / "src/recallseg" / room / "__init__.py").touch()
    return tmp_path


def test_the_contracts_hold(copy):
    run = lint(copy)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("losses/bad.py", "import recallseg.engine"),
        ("losses/bad.py", "import recallseg.data"),
        ("data/bad.py", "import recallseg.scenario"),
    ],
)
def test_a_breach_is_caught(copy, file, line):
    (copy / "src/recallseg" / file).write_text(line + "\n")
    run = lint(copy)
    assert run.returncode == 1
    assert "BROKEN" in run.stdout
