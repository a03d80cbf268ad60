import numpy as np
import pytest
from drawn import draw_pair, whole_voc, write_folder, write_voc
from PIL import Image

from recallseg.data import find_root, kind_of, open_dataset
from recallseg.data.ade import CLASSES as ADE_CLASSES
from recallseg.data.voc import CLASSES as VOC_CLASSES
from recallseg.data.voc import LISTS
from recallseg.errors import RecallsegError


def write_ade(root):
    for split in ("training", "validation"):
        for part in ("images", "annotations"):
            (root / part / split).mkdir(parents=True)
        for number, labels in enumerate(([1, 150], [0, 77])):
            photo, mask = draw_pair(labels, seed=number)
            photo.save(root / "images" / split / f"ADE_{number}.jpg")
            Image.fromarray(mask).save(root / "annotations" / split / f"ADE_{number}.png")
    return root


def test_every_reader_gives_photos_and_masks_by_stem(tmp_path):
    places = {
        "voc": whole_voc(tmp_path / "voc"),
        "ade": write_ade(tmp_path / "ade"),
        "folder": write_folder(tmp_path / "own", {"a": [1], "b": [2, 1]}, ["mug", "spoon"]),
    }
    for name, root in places.items():
        dataset = open_dataset(name, "train", root)
        assert len(dataset) == {"voc": 20, "ade": 2, "folder": 2}[name]
        for index, pair in enumerate(dataset.pairs):
            photo, mask = dataset.read(index)
            assert pair.photo.stem == pair.mask.stem == pair.stem
            assert photo.mode == "RGB"
            assert photo.size == (mask.shape[1], mask.shape[0])
            assert mask.dtype == np.uint8


def test_class_tables():
    assert len(VOC_CLASSES) == 21
    assert list(VOC_CLASSES[1:]) == sorted(VOC_CLASSES[1:])
    assert len(ADE_CLASSES) == len(set(ADE_CLASSES)) == 151
    assert (ADE_CLASSES[0], ADE_CLASSES[1], ADE_CLASSES[150]) == ("other", "wall", "flag")


def test_voc_is_found_from_the_folders_above_it(tmp_path):
    whole_voc(tmp_path / "data" / "VOCdevkit" / "VOC2012")
    root = find_root("voc", tmp_path / "data")
    assert root == tmp_path / "data" / "VOCdevkit" / "VOC2012"
    assert len(open_dataset("voc", "val", tmp_path / "data")) == 2


def test_lists_may_name_photo_and_mask_paths(tmp_path):
    root = whole_voc(tmp_path / "voc")
    (root / LISTS / "train.txt").write_text("/JPEGImages/t03.jpg /SegmentationClassAug/t03.png\n")
    dataset = open_dataset("voc", "train_aug", root)
    listed = kind_of("voc").listing(root, "train").pairs()
    assert listed == (dataset.pairs[2],)


def test_data_is_looked_for_where_the_environment_says(tmp_path, monkeypatch):
    whole_voc(tmp_path / "voc-mini" / "VOC2012")
    monkeypatch.setenv("RECALLSEG_DATA", str(tmp_path))
    assert len(open_dataset("voc-mini", "train")) == 20
    with pytest.raises(RecallsegError, match="ADEChallengeData2016"):
        open_dataset("ade", "train")
    monkeypatch.delenv("RECALLSEG_DATA")
    with pytest.raises(RecallsegError, match="set RECALLSEG_DATA"):
        open_dataset("voc", "train")


def test_folder_classes_may_name_the_background_or_not(tmp_path):
    for number, names in enumerate((["background", "mug"], ["mug"])):
        root = write_folder(tmp_path / str(number), {"a": [1]}, names)
        assert open_dataset("folder", "train", root).classes == ("background", "mug")


def test_folder_keeps_listed_validation_photos_out_of_training(tmp_path):
    root = write_folder(tmp_path / "own", {"a": [1], "b": [1], "c": [1]}, ["mug"])
    (root / "val.txt").write_text("b\n")
    assert [pair.stem for pair in open_dataset("folder", "train", root).pairs] == ["a", "c"]
    assert [pair.stem for pair in open_dataset("folder", "val", root).pairs] == ["b"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda r: (r / "JPEGImages/t01.jpg").unlink(), "'t01' has a mask but no photo"),
        (lambda r: (r / "SegmentationClassAug/t02.png").unlink(), "'t02' has a photo but no mask"),
        (lambda r: (r / LISTS / "train_aug.txt").unlink(), "has no split 'train_aug'; it has val"),
        (lambda r: (r / LISTS / "train_aug.txt").write_text(""), "holds no photos"),
    ],
)
def test_a_broken_set_is_refused_when_opened(tmp_path, damage, sentence):
    root = whole_voc(tmp_path / "voc")
    damage(root)
    with pytest.raises(RecallsegError, match=sentence):
        open_dataset("voc", "train", root)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda photo, mask: photo.write_bytes(photo.read_bytes()[:200]), "cannot be read"),
        (lambda photo, mask: photo.write_text("<html>"), "not an image"),
        (lambda photo, mask: Image.new("RGB", (24, 20)).save(mask), "3 channel"),
        (lambda photo, mask: Image.new("L", (9, 8)).save(mask), "is 9×8 px but its photo is 24×20"),
        (lambda photo, mask: mask.write_text(""), "cannot be read"),
    ],
)
def test_a_broken_file_is_named(tmp_path, damage, sentence):
    root = write_voc(tmp_path / "voc", {"train_aug": {"t": [1]}})
    damage(root / "JPEGImages/t.jpg", root / "SegmentationClassAug/t.png")
    dataset = open_dataset("voc", "train", root)
    with pytest.raises(RecallsegError, match=sentence):
        dataset.read(0)


def test_an_unknown_dataset_lists_the_known_ones():
    with pytest.raises(RecallsegError, match="Known: voc, voc-mini, ade, folder"):
        open_dataset("coco", "train")


def test_a_subset_keeps_the_given_order(tmp_path):
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    assert [pair.stem for pair in dataset.subset(["t07", "t02"]).pairs] == ["t07", "t02"]


def test_voc_mini_opens_with_the_reader_of_voc(voc_mini):
    train, val = (open_dataset("voc", split, voc_mini) for split in ("train", "val"))
    assert (len(train), len(val)) == (4232, 725)
    photo, mask = val.read(0)
    assert photo.size == (mask.shape[1], mask.shape[0])
    assert set(np.unique(mask)) <= {*range(21), 255}


def test_a_signature_is_of_the_content_wherever_and_whenever_it_was_written(tmp_path):
    first = open_dataset("voc", "train", whole_voc(tmp_path / "one"))
    again = open_dataset("voc", "train", whole_voc(tmp_path / "two"))
    assert first.signature() == again.signature()
    _, mask = again.read(3)
    mask[5, 5] += 1
    Image.fromarray(mask).save(again.pairs[3].mask)
    assert again.signature() != first.signature()
