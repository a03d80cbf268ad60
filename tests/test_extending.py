"""A replay source and a method are a file and a line each, and everything knows them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from drawn import write_folder
from tiny import TINY, three_classes

from recallseg.config import dump_config

SOURCE_ROOT = Path(__file__).parents[1] / "src"

STRIPES = '''
"""Striped images."""

import hashlib

from PIL import Image

from recallseg.config import SourceSettings
from recallseg.replay import ReplayPhoto, Source


class StripesSettings(SourceSettings):
    """How wide the stripes are."""

    title: str = "Stripes"
    width: int = 4

    def open(self) -> Source:
        """The source."""
        return Stripes(self.width)


class Stripes(Source):
    """Remembers how many photos each class had, and draws as many stripes."""

    name = "stripes"

    def __init__(self, width):
        self.width = width

    def learn(self, lesson):
        return {**lesson.memory, **{n: len(lesson.stems[i]) for i, n in lesson.names.items()}}

    def collect(self, class_name, count, folder, say):
        folder.mkdir(parents=True, exist_ok=True)
        photos = []
        for number in range(count):
            image = Image.new("RGB", (40, 40), (255, 255, 255))
            image.paste((200, 10 * number, 0), (0, 0, self.width * (number + 1), 40))
            path = folder / f"{number}.png"
            image.save(path)
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            photos.append(
                ReplayPhoto(class_name, path, self.name, class_name, "drawn", sha256=sha256)
            )
        return photos
'''

CALM = '''
"""Half of fine-tuning's loss."""

from recallseg.methods.base import Method


class Calm(Method):
    """Learns half as fast."""

    title = "Calm"

    def loss(self, model, batch):
        """Half the cross-entropy."""
        return super().loss(model, batch) / 2
'''


COMMANDS = """
import json, sys
from recallseg.cli.main import app

for words in json.loads(sys.argv[1]):
    app(words, standalone_mode=False)
"""


@pytest.fixture
def extended(tmp_path):
    """The package with both added, as a function that runs some of its commands."""
    shutil.copytree(SOURCE_ROOT, tmp_path / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    package = tmp_path / "src/recallseg"
    (package / "replay/stripes_source.py").write_text(STRIPES)
    add_line(
        package / "config/sources.py",
        after="SOURCES: dict[str, str | type[SourceSettings]] = {",
        line='    "stripes": "recallseg.replay.stripes_source:StripesSettings",',
    )
    (package / "methods/calm.py").write_text(CALM)
    add_line(
        package / "methods/__init__.py",
        after="METHODS: dict[str, str | type[Method]] = {",
        line='    "calm": "recallseg.methods.calm:Calm",',
    )

    def recallseg(*commands):
        done = subprocess.run(
            [sys.executable, "-c", COMMANDS, json.dumps(commands)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return recallseg


def add_line(path, after, line):
    text = path.read_text()
    assert after in text
    path.write_text(text.replace(after, f"{after}\n{line}", 1))


def test_both_run_through_run_table_learn_and_report(extended, tmp_path):
    own = {"method__name": "calm", "replay__source": "stripes", "replay__stripes__width": 2}
    config = three_classes(tmp_path / "photos", replay__images_per_class=2)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/calm.yaml").write_text(dump_config(config))
    words = [f"{key.replace('__', '.')}={value}" for key, value in own.items()]
    (tmp_path / "both.yaml").write_text(
        f"configs: configs\nrows: {{Both: {{config: calm, overrides: {words}}}}}\n"
        "scenarios: [1-1]\n"
    )
    write_folder(tmp_path / "cats", {f"c{n}": [1] for n in range(6)}, classes=["cat"])
    write_folder(tmp_path / "dogs", {f"d{n}": [1] for n in range(6)}, classes=["dog"])
    said = extended(
        ["run", "configs/calm.yaml", *words, "-o", "runs"],
        ["table", "both.yaml", "-o", "tables"],
        ["learn", "model", "cats", "--source", "stripes", *TINY, "method.name=calm"],
        ["learn", "model", "dogs"],
        ["report", "runs", "model", "-o", "report.html"],
    )
    [run] = (tmp_path / "runs").iterdir()
    assert json.loads((run / "mapping.json").read_text()) == {"cat": 12, "dog": 12, "cow": 12}
    assert '"source": "stripes"' in (run / "replay/manifest.jsonl").read_text()
    assert "Both" in said
    assert (tmp_path / "report.html").read_text().count("Calm + ours (Stripes)") > 2
