"""Photos of 16 bits, of floating-point numbers, and those that EXIF turns."""

import io
import os

import numpy as np
import pytest
from drawn import write_folder
from PIL import Image
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.data import open_dataset
from recallseg.data.check import check_dataset
from recallseg.data.decoding import decode_photo, read_mask, read_photo
from recallseg.errors import RecallsegError
from recallseg.predict.photos import as_image
from recallseg.replay.web.decoding import PhotoRules, clean_jpeg

LEVELS = [0, 257, 32896, 65535]
"""16-bit levels that are 0, 1, 128 and 255 in 8 bits."""


def sixteen(order="<u2"):
    return Image.fromarray(np.array([LEVELS], dtype=order))


def first_channel(image):
    assert image.mode == "RGB"
    return np.asarray(image)[0, :, 0].tolist()


@pytest.mark.parametrize(
    ("ending", "order"),
    [("png", "<u2"), ("png", ">u2"), ("tif", "<u2"), ("tif", ">u2"), ("pgm", "<u2")],
)
def test_grey_of_16_bits_is_scaled(tmp_path, ending, order):
    path = tmp_path / f"photo.{ending}"
    sixteen(order).save(path)
    assert first_channel(read_photo(path)) == [0, 1, 128, 255]
    with Image.open(path) as image:
        assert first_channel(as_image(image)) == [0, 1, 128, 255]
    upload = io.BytesIO(path.read_bytes())
    assert first_channel(decode_photo(upload, "The upload")) == [0, 1, 128, 255]


def test_integers_that_are_written_to_a_pgm_have_16_bits(tmp_path):
    Image.fromarray(np.array([LEVELS], dtype=np.int32)).save(tmp_path / "photo.pgm")
    assert first_channel(read_photo(tmp_path / "photo.pgm")) == [0, 1, 128, 255]


def test_a_downloaded_photo_of_16_bits_is_scaled():
    levels = np.full((100, 100), 32896, dtype=np.uint16)
    buffer = io.BytesIO()
    Image.fromarray(levels).save(buffer, "PNG")
    with Image.open(io.BytesIO(clean_jpeg(buffer.getvalue(), PhotoRules()))) as kept:
        assert abs(np.asarray(kept).astype(int) - 128).max() <= 1


@pytest.mark.parametrize(("kind", "word"), [("float32", "floating-point"), ("int32", "32 bits")])
def test_numbers_without_a_white_are_refused(tmp_path, kind, word):
    image = Image.fromarray(np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4).astype(kind))
    image.save(tmp_path / "photo.tif")
    for give in (lambda: read_photo(tmp_path / "photo.tif"), lambda: as_image(image)):
        with pytest.raises(RecallsegError, match=f"{word}.*scale them to 0–255"):
            give()


def test_a_check_names_a_photo_without_a_white(tmp_path):
    root = write_folder(tmp_path / "own", {"a": [1]}, ["mug"])
    (root / "images/a.png").unlink()
    Image.new("F", (24, 20)).save(root / "images/a.tif")
    (defect,) = check_dataset(root).defects
    assert (defect.kind, defect.subject) == ("unreadable photo", "a.tif")
    assert "scale them" in defect.detail


def turned(size, orientation):
    """A photo whose left half is white in the file, and its EXIF."""
    image = Image.new("RGB", size)
    image.paste("white", (0, 0, size[0] // 2, size[1]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    return image, exif


@pytest.mark.parametrize("ending", ["jpg", "png", "webp", "tif"])
def test_an_image_is_turned_once_like_a_path(tmp_path, ending):
    image, exif = turned((32, 16), 6)
    path = tmp_path / f"photo.{ending}"
    image.save(path, exif=exif)
    upright = read_photo(path)
    assert upright.size == (16, 32)
    assert upright.getpixel((8, 4))[0] > 200
    assert upright.getpixel((8, 28))[0] < 50
    with Image.open(path) as opened:
        np.testing.assert_array_equal(as_image(opened), upright)
    assert as_image(upright) is upright


def exif_set(root, photo_size, mask_size, orientation):
    write_folder(root, {}, ["mug"])
    image, exif = turned(photo_size, orientation)
    image.save(root / "images/a.jpg", exif=exif)
    Image.new("L", mask_size, 1).save(root / "masks/a.png")
    return root


def test_a_mask_that_was_not_turned_with_its_photo_is_a_defect(tmp_path):
    root = exif_set(tmp_path / "own", (32, 16), (32, 16), 6)
    (defect,) = check_dataset(root).defects
    assert (defect.kind, defect.subject) == ("mask not turned", "a.png")
    with pytest.raises(RecallsegError, match=r"EXIF turns the photo .* turn the mask too"):
        open_dataset("folder", "train", root).read(0)


@pytest.mark.parametrize(("size", "held"), [((16, 16), 6), ((32, 16), 3)])
def test_a_mask_whose_size_tells_nothing_is_a_warning(tmp_path, size, held):
    root = exif_set(tmp_path / "own", size, size, held)
    report = check_dataset(root)
    assert report.defects == ()
    assert [warning.subject for warning in report.warnings] == ["a.png"]
    result = CliRunner().invoke(app, ["data", "check", str(root)], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "its photo is turned by EXIF; make sure the mask is turned too" in result.output


@pytest.mark.parametrize(("mask_size", "held"), [((16, 32), 6), ((32, 16), 1)])
def test_a_mask_that_lies_over_its_photo_is_sound(tmp_path, mask_size, held):
    report = check_dataset(exif_set(tmp_path / "own", (32, 16), mask_size, held))
    assert (report.defects, report.warnings) == ((), ())


@pytest.mark.parametrize("part", ["images", "masks"])
def test_a_pipe_among_the_files_is_refused_unopened(tmp_path, part):
    root = write_folder(tmp_path / "own", {"a": [1], "b": [1]}, ["mug"])
    (root / part / "a.png").unlink()
    os.mkfifo(root / part / "a.png")
    with pytest.raises(RecallsegError, match="a pipe or a device; put a regular file there"):
        open_dataset("folder", "train", root).signature()
    with pytest.raises(RecallsegError, match="a pipe or a device"):
        (read_photo if part == "images" else read_mask)(root / part / "a.png")
    (defect,) = check_dataset(root).defects
    assert defect.subject == "a.png"
