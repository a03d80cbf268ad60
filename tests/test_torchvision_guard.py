import ast
import subprocess
import sys
from pathlib import Path

import recallseg

SOURCES = sorted(Path(recallseg.__file__).parent.rglob("*.py"))
NEEDS_GUARD = {"torchvision", "timm"}


def imported(tree: ast.Module) -> list[str]:
    names = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names


def test_whoever_imports_torchvision_imports_the_guard_before_it():
    for path in SOURCES:
        if path.stem == "torchvision_guard":
            continue
        names = imported(ast.parse(path.read_text()))
        if any(name.split(".")[0] in NEEDS_GUARD for name in names):
            assert names[0] == "recallseg.torchvision_guard", path


def test_torchvision_imports_in_a_fresh_process():
    code = "import recallseg.torchvision_guard, torchvision, timm; print('fine')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "fine"


def test_a_whole_torchvision_is_left_alone(tmp_path):
    """One without operators of its own: none are declared in their place."""
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision/__init__.py").touch()
    code = (
        "import torch\n"
        "from recallseg.torchvision_guard import TORCHVISION_IS_WHOLE, ensure_torchvision\n"
        "print(TORCHVISION_IS_WHOLE, ensure_torchvision(), hasattr(torch.ops.torchvision, 'nms'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert run.stdout.split() == ["True", "True", "False"]


def test_an_import_error_of_another_kind_is_not_hidden(monkeypatch, tmp_path):
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('something else')")
    code = "import recallseg.torchvision_guard"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert "something else" in run.stderr
