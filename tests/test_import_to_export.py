"""From files of other tools to a model that learns twice, and its predictions as such files."""

import numpy as np
import pytest
from commands import recallseg
from foreign import WRITERS, assert_alike, draw
from PIL import Image
from tiny import TINY

from recallseg.data import open_dataset

CLASSES = {"coco": "bus", "yolo": "cat", "labelme": "sheep"}


def done(*words):
    """Run a command that must succeed."""
    result = recallseg(*words)
    assert result.returncode == 0, result.stderr
    return result


def teach(folder, names, settings):
    """Draw photos of a class for each format, import them, and learn one class after the other."""
    for count, name in enumerate(names):
        world = draw(folder / f"drawn-{name}", {"train": 5}, [CLASSES[name]], size=(64, 48))
        source = WRITERS[name](folder / f"theirs-{name}", world)
        done("data", "import", source, folder / f"ours-{name}")
        for row in range(5):
            found = open_dataset("folder", "train", folder / f"ours-{name}")
            assert_alike(found.read_mask(row), world["train"].read_mask(row))
        words = ["learn", folder / "model", folder / f"ours-{name}"]
        if count:
            words += ["--source", f"folder:{folder / 'replay'}"]
        else:
            words += settings
            replay = ["--classes", ",".join(CLASSES.values()), "--per-class", "3"]
            done("toy", "photos", folder / "replay", *replay)
        done(*words)


def predicted(folder, name, photos):
    """What the model sees, written in a format and imported again, by stem."""
    done("predict", folder / "model", photos, "--format", name, "-o", folder / f"out-{name}")
    done("data", "import", folder / f"out-{name}", folder / f"back-{name}", "--images", photos)
    dataset = open_dataset("folder", "train", folder / f"back-{name}")
    return dataset, {pair.stem: row for row, pair in enumerate(dataset.pairs)}


def check_formats(folder, names, known):
    photos = folder / f"ours-{names[0]}" / "images"
    done("predict", folder / "model", photos, "-o", folder / "masks")
    seen = {}
    for path in sorted((folder / "masks").iterdir()):
        with Image.open(path) as image:
            seen[path.stem] = np.array(image)
    for name in names:
        dataset, rows = predicted(folder, name, photos)
        dataset = dataset.renamed(("background", *known), other=99)
        for stem, mask in seen.items():
            assert_alike(dataset.read_mask(rows[stem]), mask)
    return seen


@pytest.mark.slow
def test_three_formats_in_three_formats_out(tmp_path):
    parts = ("optim", "increment", "helper.optim")
    calm = [f"{part}.{word}" for part in parts for word in ("lr=0.004", "iterations_per_class=60")]
    teach(tmp_path, list(CLASSES), [*TINY, *calm])
    seen = check_formats(tmp_path, list(CLASSES), CLASSES.values())
    assert any(mask.any() for mask in seen.values())


def test_two_formats_in_and_predictions_out(tmp_path):
    """So short a training sees little; what it sees is what comes back."""
    teach(tmp_path, ["coco", "labelme"], [*TINY, "optim.iterations_per_class=8"])
    photos = tmp_path / "ours-coco" / "images"
    done("predict", tmp_path / "model", photos, "--format", "yolo", "-o", tmp_path / "out")
    assert len(list((tmp_path / "out/labels").glob("*.txt"))) == 5
    assert "names:\n  0: bus\n  1: sheep\n" in (tmp_path / "out/data.yaml").read_text()
