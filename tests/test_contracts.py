"""The import contracts hold here, and would catch a breach."""

import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
MOST_IMPORTS = 15
"""Of other modules of the package by one; a module that needs more has more than one task."""


def too_many_imports(source: Path) -> dict[str, int]:
    """The modules below a folder that import more than they may, with how many they import."""
    sys.path.insert(0, str(source))
    try:
        graph = grimp.build_graph("recallseg", cache_dir=None)
    finally:
        sys.path.remove(str(source))
    counts = {each: len(graph.find_modules_directly_imported_by(each)) for each in graph.modules}
    return {name: count for name, count in counts.items() if count > MOST_IMPORTS}


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
        ("engine/samples/bad.py", "import recallseg.engine.old_classes"),
        ("serve/bad.py", "import recallseg.engine"),
        ("report/bad.py", "import torch"),
    ],
)
def test_a_breach_is_caught(copy, file, line):
    (copy / "src/recallseg" / file).write_text(line + "\n")
    run = lint(copy)
    assert run.returncode == 1
    assert "BROKEN" in run.stdout


def test_no_module_imports_too_many_others():
    assert too_many_imports(ROOT / "src") == {}


@pytest.mark.parametrize("count", [MOST_IMPORTS, MOST_IMPORTS + 1])
def test_a_module_that_imports_too_many_others_would_be_caught(tmp_path, count):
    package = tmp_path / "src/recallseg"
    package.mkdir(parents=True)
    for name in ["__init__", "hub", *(f"part_{number}" for number in range(count))]:
        (package / f"{name}.py").touch()
    lines = [f"import recallseg.part_{number}\n" for number in range(count)]
    (package / "hub.py").write_text("".join(lines))
    code = (
        "import sys; from pathlib import Path; "
        "from test_contracts import too_many_imports; "
        "print(too_many_imports(Path(sys.argv[1])))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "src"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": "", "PATH": ""},
    )
    expected = {"recallseg.hub": count} if count > MOST_IMPORTS else {}
    assert told.stdout.strip() == str(expected)
