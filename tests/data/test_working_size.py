import numpy as np
import pytest
from commands import recallseg
from drawn import draw_pair, write_folder
from PIL import Image

from recallseg.config import dump_config, load_preset
from recallseg.data import open_dataset
from recallseg.data.sizes import PhotoSizes
from recallseg.data.working_size import at_working_size, working_size
from recallseg.errors import RecallsegError


@pytest.mark.parametrize(
    ("size", "side", "expected"),
    [
        ((4000, 3000), 384, (384, 288)),
        ((100, 50), 384, (384, 192)),
        ((384, 5), 384, (384, 5)),
        ((3000, 1), 384, (384, 1)),
        ((5, 2), 1, (1, 1)),
        ((40, 30), None, (40, 30)),
    ],
)
def test_photos_are_brought_to_a_size_up_and_down(size, side, expected):
    assert working_size(size, side) == expected
    assert at_working_size(Image.new("RGB", size), side).size == expected


def test_shrinking_takes_the_mean_of_what_becomes_a_pixel():
    """Lines of one pixel do not alias into stripes or vanish."""
    lines = np.zeros((64, 64, 3), dtype=np.uint8)
    lines[:, ::2] = 200
    small = np.asarray(at_working_size(Image.fromarray(lines), 16))
    assert np.abs(small[:, 2:-2].astype(int) - 100).max() < 8


def test_a_dataset_is_read_at_its_size_and_known_by_it(tmp_path):
    root = write_folder(tmp_path / "own", {"a": [1], "b": [1, 2]}, ["cat", "dog"])
    native = open_dataset("folder", "train", root)
    small = native.at(12)
    photo, mask = small.read(1)
    assert photo.size == (12, 10)
    assert mask.shape == (10, 12)
    assert set(np.unique(mask)) <= set(np.unique(native.read(1)[1]))
    signatures = {native.signature(), small.signature(), native.at(13).signature()}
    assert len(signatures) == 3
    assert native.at(None).signature() == native.signature()
    Image.new("L", (7, 7)).save(root / "masks/a.png")
    with pytest.raises(RecallsegError, match="they must have the same size"):
        small.read(0)


def test_a_size_that_is_not_set_is_in_no_file_and_in_no_key():
    """Names of run folders and of caches from before the setting stay the same."""
    plain = load_preset("small")
    assert plain.views.model_dump() == {
        "crop": 224,
        "cut": "window",
        "scale": (0.7, 1.5),
        "label_stride": 4,
    }
    assert "val_root" not in dump_config(plain)
    assert "longer_side: 384" in dump_config(load_preset("small", ["views.longer_side=384"]))


def test_the_size_to_learn_at_is_that_of_the_photos_up_to_what_windows_show(tmp_path):
    assert PhotoSizes((4000, 4000, 300)).working_side(224) == 384
    assert PhotoSizes((256, 300, 200)).working_side(224) == 256
    sentence = PhotoSizes((300, 4000, 4000)).sentence(224)
    assert "300–4000 px, the median 4000" in sentence
    assert "at 384 px, the most for windows of 224 px" in sentence
    for number in range(3):
        draw_pair([1], size=(60, 90))[0].save(tmp_path / f"{number}.png")
    (tmp_path / "broken.png").write_text("no photo")
    assert PhotoSizes.of(sorted(tmp_path.iterdir())).sides == (90, 90, 90)


def test_check_tells_the_sizes_and_what_becomes_of_them(tmp_path):
    write_folder(tmp_path / "own", {"a": [1], "b": [1]}, ["cat"])
    told = recallseg("data", "check", tmp_path / "own").stdout
    assert "The longer side of the photos is 24 px; a model begun with them looks" in told
    assert "at 24 px" in told
