"""The examples, as a newcomer runs them."""

import ast
import json
import runpy
from pathlib import Path

import pytest
from children import Child

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name, *words):
    script = str(EXAMPLES / name)
    done = Child(words, work=lambda: runpy.run_path(script, run_name="__main__")).outcome()
    assert done.code == 0, done.err
    return done.out


def test_add_a_class(tmp_path):
    told = example("add_a_class.py", tmp_path)
    assert "knows bus, cat, sheep, cow" in told
    assert "step 0: bus, cat, sheep, from 30 photos" in told
    assert "step 1: cow, from 12 photos" in told


def cells_of(path):
    """What each code cell of a notebook shows, its last line being an expression or nothing."""
    shown, names = [], {"__name__": "__main__"}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), names)
        value = ast.Expression(last.value) if last else None
        shown.append(eval(compile(value, path.name, "eval"), names) if value else None)
    return shown


def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files, phases, one, names, seen, scores, gone = cells_of(EXAMPLES / "add_a_class.ipynb")
    assert files == ["classes.txt", "images", "masks", "train.txt"]
    assert phases["step 0"].startswith("12 of 12 loss")
    assert names == ("background", "bus", "cat", "cow")
    for segmentation in (one, seen):
        assert "<figure" in segmentation._repr_html_()
    assert len(list((tmp_path / "masks").iterdir())) == 4
    assert list(scores) == list(names)
    assert gone == ["cow"]
    assert not (tmp_path / "first").exists()


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
