"""Files that other tools wrote (`tools/foreign_files.py`) become the masks that were meant."""

from pathlib import Path

import numpy as np
import pytest
from foreign import assert_alike
from PIL import Image
from scipy.ndimage import binary_fill_holes

from recallseg.data import open_dataset
from recallseg.data.importing.importer import import_dataset
from recallseg.data.importing.source_folder import ImportOptions

FOREIGN = Path(__file__).parents[2] / "foreign"
BOX = "has no outline, only a box (--boxes fills it)"


def truth(name):
    with Image.open(FOREIGN / "truth" / f"{name}.png") as image:
        return np.array(image)


def imported(folder, out, **options):
    report = import_dataset(FOREIGN / folder, out, options=ImportOptions(**options))
    dataset = open_dataset("folder", "train", out)
    assert dataset.classes == ("background", "cat", "dog")
    assert len(dataset) == 1
    return report, dataset.read_mask(0)


@pytest.mark.parametrize(
    ("folder", "name", "skipped"),
    [
        ("labelme", "labelme", {("object", "a line of 2 points has no area"): 1}),
        ("cvat", "cvat", {}),
        (
            "labelstudio",
            "labelstudio",
            {("object", "a result of type keypointlabels has no area"): 1},
        ),
        ("supervision", "yolo", {}),
    ],
)
def test_tools_that_draw_the_box(folder, name, skipped, tmp_path):
    report, mask = imported(folder, tmp_path / "ours")
    assert (report.format, dict(report.skips.counts)) == (name, skipped)
    assert_alike(mask, truth("box"))
    if name != "yolo":  # which has corners on the middles of pixels
        np.testing.assert_array_equal(mask, truth("box"))


def test_the_converter_of_ultralytics_has_filled_the_hole(tmp_path):
    report, mask = imported("ultralytics", tmp_path / "ours")
    reason = "is in train already, and not taken for val"
    assert (report.format, dict(report.skips.counts)) == ("yolo", {("photo", reason): 1})
    meant = truth("box")
    meant[binary_fill_holes(meant == 2)] = 2
    assert_alike(mask, meant)


@pytest.mark.parametrize("name", ["coco", "datumaro"])
def test_boxes_without_outlines_are_counted_or_filled(name, tmp_path):
    report, mask = imported(name, tmp_path / "plain")
    assert (report.format, dict(report.skips.counts)) == (name, {("object", BOX): 1})
    np.testing.assert_array_equal(mask, truth("plain"))
    report, mask = imported(name, tmp_path / "filled", boxes=True)
    assert not report.skips.counts
    np.testing.assert_array_equal(mask, truth("box"))


def test_voc_masks_in_colours_without_colours_in_the_labelmap(tmp_path):
    report, mask = imported("voc", tmp_path / "ours")
    assert report.format == "voc"
    assert_alike(mask, truth("plain"))
