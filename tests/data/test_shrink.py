import numpy as np
import pytest
from drawn import whole_voc
from PIL import Image

from recallseg.data import open_dataset
from recallseg.data.check import check_dataset
from recallseg.data.palette import voc_palette
from recallseg.data.shrink import resized, shrink_dataset
from recallseg.errors import RecallsegError


def shrink(root, out, **changed):
    settings = {"longer_side": 12, "train": 20, "val": 1, "seed": 3} | changed
    return shrink_dataset(root, out, **settings)


def test_the_copy_is_small_sound_and_repeatable(tmp_path):
    root = whole_voc(tmp_path / "voc")
    assert shrink(root, tmp_path / "a") == {"train_aug": 20, "val": 1}
    assert check_dataset(tmp_path / "a").defects == ()
    shrink(root, tmp_path / "b")
    for path in sorted((tmp_path / "a").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_masks_are_resized_by_nearest_neighbour(tmp_path):
    root = whole_voc(tmp_path / "voc")
    shrink(root, tmp_path / "small")
    for big, small in zip(
        open_dataset("voc", "train", root).pairs,
        open_dataset("voc", "train", tmp_path / "small").pairs,
        strict=True,
    ):
        with Image.open(big.mask) as whole, Image.open(small.mask) as copy:
            assert copy.mode == "P"
            assert copy.size == (12, 10)
            assert set(np.unique(np.array(copy))) <= set(np.unique(np.array(whole)))


def test_sizes():
    assert resized((500, 375), 256) == (256, 192)
    assert resized((333, 500), 256) == (170, 256)
    assert resized((100, 80), 256) == (100, 80)


def test_it_refuses_to_overwrite_and_to_invent(tmp_path):
    root = whole_voc(tmp_path / "voc")
    (tmp_path / "there").mkdir()
    with pytest.raises(RecallsegError, match="exists already"):
        shrink(root, tmp_path / "there")
    with pytest.raises(RecallsegError, match="holds 20 photos, not 21"):
        shrink(root, tmp_path / "new", train=21)
    assert not (tmp_path / "new").exists()


def test_the_palette_is_vocs():
    colours = voc_palette()
    assert colours[[0, 1, 2, 15, 20, 255]].tolist() == [
        [0, 0, 0],
        [128, 0, 0],
        [0, 128, 0],
        [192, 128, 128],
        [0, 64, 128],
        [224, 224, 192],
    ]
