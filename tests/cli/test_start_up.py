"""A typo is refused before torch is loaded, which takes most of a command's start."""

import subprocess
import sys

from commands import recallseg
from drawn import write_folder
from typer.main import get_command

from recallseg.cli.main import app

TYPOS = [
    ("lern", "model", "photos"),
    ("learn", "model", "photos", "--clases", "cow"),
    ("learn", "model", "nowhere"),
    ("learn", "model", "photos", "views.cropp=96"),
    ("rollback", "modle", "--to", "0"),
    ("evaluate", "modle"),
    ("predict", "modle", "photo.jpg"),
    ("predict", "modle", "photo.jpg", "--format", "pgn"),
    ("serve", "modle"),
    ("export", "modle", "-o", "model.onnx"),
    ("hub", "push", "modle", "me/model"),
    ("info", "modle"),
    ("report", "modle"),
    ("run", "nowhere.yaml"),
    ("table", "nowhere.yaml"),
    ("replay", "map", "nowhere.yaml"),
    ("bench", "shift", "modle"),
    ("bench", "bank", "nowhere.yaml"),
    ("data", "check", "nowhere"),
    ("data", "get", "coco"),
    ("toy", "write", "out", "--split", "test"),
]

CODE = """
import sys
from recallseg.cli.main import main
for words in %r:
    sys.argv = ["recallseg", *words]
    try:
        main()
    except SystemExit as end:
        assert end.code == 2, words
    else:
        raise AssertionError(words)
    loaded = [name for name in ("torch", "timm", "torchvision") if name in sys.modules]
    assert not loaded, (words, loaded)
"""


def test_a_typo_is_refused_before_torch_is_loaded(tmp_path):
    write_folder(tmp_path / "photos", {"a": [1]}, ["background", "cow"])
    done = subprocess.run(
        [sys.executable, "-c", CODE % TYPOS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def commands(group, name="recallseg"):
    """Every command by its words."""
    for word in group.list_commands(None):
        found = group.commands[word]
        if hasattr(found, "list_commands"):
            yield from commands(found, f"{name} {word}")
        else:
            yield f"{name} {word}", found


def test_arguments_have_the_same_name_in_every_command():
    written = set()
    for name, command in commands(get_command(app)):
        names = {parameter.name for parameter in command.params}
        assert not {"model_dir", "run_folder", "folder"} & names, name
        written |= {name} if "out" in names else set()
    assert {"recallseg export", "recallseg toy write", "recallseg data shrink"} <= written


def test_out_may_always_be_an_option(tmp_path):
    for flag in ("-o", "--out"):
        words = ("--count", "1", flag, tmp_path / flag, "--classes", "cow")
        assert recallseg("toy", "write", *words).returncode == 0
        assert (tmp_path / flag / "images").is_dir()
    assert recallseg("toy", "write", "-o").returncode == 2
