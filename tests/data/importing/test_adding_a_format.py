"""A format to import or to write is a line in a registry, and the commands know it."""

import re

from commands import recallseg
from PIL import Image

from recallseg.data import open_dataset
from recallseg.data.importing.detecting import IMPORTS
from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.regions import box
from recallseg.data.importing.scenes import Drawing, Findings, Scene, Shape


def read(source):
    """A file `a.dots` has the box of a dot in the photo beside it."""
    scenes = []
    for path in source.ending(".dots"):
        dot = Shape("dot", box(*map(float, path.read_text().split())))
        scenes.append(Scene(path.with_suffix(".png"), Drawing((dot,), str(path))))
    return Findings(["dot"], scenes)


def test_a_new_format_is_detected_imported_and_in_the_help(tmp_path, monkeypatch):
    dots = ImportFormat("dots", lambda source: bool(source.ending(".dots")), read)
    monkeypatch.setitem(IMPORTS, "dots", dots)
    (tmp_path / "in").mkdir()
    Image.new("RGB", (8, 6)).save(tmp_path / "in/a.png")
    (tmp_path / "in/a.dots").write_text("2 1 5 4")
    done = recallseg("data", "import", tmp_path / "in", tmp_path / "out")
    assert "from dots, 1 in train" in done.stdout
    mask = open_dataset("folder", "train", tmp_path / "out").read_mask(0)
    assert (mask.sum(), mask[1:4, 2:5].sum()) == (9, 9)
    known = recallseg("data", "import", tmp_path / "in", tmp_path / "new", "--format", "nothing")
    assert re.search(r"Known: coco, .*dots\.", known.stderr)
