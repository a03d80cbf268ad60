import re
import shutil
from pathlib import Path

import pytest
from drawn import draw_pair, whole_voc, write_folder
from PIL import Image

from recallseg.data.check import check_dataset
from recallseg.data.voc import LISTS
from recallseg.errors import RecallsegError


def found(root):
    return {(defect.kind, defect.subject) for defect in check_dataset(root).defects}


def test_a_sound_set_has_no_defects(tmp_path):
    report = check_dataset(whole_voc(tmp_path / "voc"))
    assert report.defects == ()
    assert report.pairs == {"train_aug": 20, "val": 2}


def test_every_defect_is_named(tmp_path):
    root = whole_voc(tmp_path / "voc")
    photos, masks = root / "JPEGImages", root / "SegmentationClassAug"
    (photos / "t01.jpg").unlink()
    (masks / "t02.png").unlink()
    Image.new("L", (5, 5)).save(masks / "t03.png")
    _, mask = draw_pair([4, 37])
    Image.fromarray(mask).save(masks / "t04.png")
    (photos / "t05.jpg").write_bytes((photos / "t05.jpg").read_bytes()[:300])
    Image.new("RGB", (24, 20)).save(masks / "t06.png")
    (masks / "t07.png").write_bytes(b"no image")
    Image.new("L", (5, 5)).save(masks / "stray.png")
    with (root / LISTS / "val.txt").open("a") as file:
        file.write("t08\nv01\nghost\n")
    assert found(root) == {
        ("unpaired file", "t01"),
        ("unpaired file", "t02"),
        ("size mismatch", "t03.png"),
        ("label out of range", "t04.png"),
        ("unreadable photo", "t05.jpg"),
        ("mask of many channels", "t06.png"),
        ("unreadable mask", "t07.png"),
        ("unpaired file", "stray"),
        ("unpaired file", "ghost"),
        ("in two splits", "t08"),
        ("listed twice", "v01"),
        *{("class never seen", name) for name in ("bicycle", "bird", "car")},
    }


def test_a_folder_without_classes_and_an_unknown_layout_are_sentences(tmp_path):
    root = write_folder(tmp_path / "own", {"a": [1]}, ["mug", "spoon"])
    assert found(root) == {("class never seen", "spoon")}
    (root / "classes.txt").unlink()
    with pytest.raises(RecallsegError, match=r"classes\.txt is missing"):
        check_dataset(root)
    with pytest.raises(RecallsegError, match="does not exist"):
        check_dataset(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecallsegError, match="none of the layouts"):
        check_dataset(tmp_path / "empty")


def test_a_missing_training_list_is_a_defect(tmp_path):
    root = whole_voc(tmp_path / "voc")
    (root / LISTS / "train_aug.txt").unlink()
    assert ("missing split", "train_aug") in found(root)


def test_ade_is_recognised(tmp_path):
    root = whole_voc(tmp_path / "voc")
    ade = tmp_path / "ade"
    for split in ("training", "validation"):
        shutil.copytree(root / "JPEGImages", ade / "images" / split)
        shutil.copytree(root / "SegmentationClassAug", ade / "annotations" / split)
    report = check_dataset(ade)
    assert report.layout == "ade"
    assert {d.kind for d in report.defects} == {"class never seen", "in two splits"}


@pytest.mark.parametrize("name", ["coco", "datumaro", "cvat", "labelme", "ultralytics"])
def test_a_dataset_of_another_tool_is_pointed_to_import(name):
    root = Path(__file__).parents[1] / "foreign" / name
    with pytest.raises(
        RecallsegError, match=rf"`recallseg data import {re.escape(str(root))} OUT`"
    ):
        check_dataset(root)


def test_masks_that_only_import_reads_are_pointed_there(tmp_path):
    photo, mask = draw_pair([1])
    for name in ("images", "masks"):
        (tmp_path / name / "train").mkdir(parents=True)
    (tmp_path / "classes.txt").write_text("mug\n")
    photo.save(tmp_path / "images/train/a.png")
    Image.fromarray(mask).save(tmp_path / "masks/train/a.png")
    with pytest.raises(RecallsegError, match=r"photos and mask images.*data import"):
        check_dataset(tmp_path)
    photo.save(tmp_path / "images/a.png")
    photo.save(tmp_path / "masks/a.png")
    [defect, _] = check_dataset(tmp_path).defects
    assert (defect.kind, "data import" in defect.detail) == ("mask of many channels", True)
    Image.fromarray((mask == 1).astype("uint8") * 255).save(tmp_path / "masks/a.png")
    [defect] = check_dataset(tmp_path).defects
    assert defect.kind == "class never seen"
    assert "--class NAME" in defect.detail
