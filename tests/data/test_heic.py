"""HEIC photos: read where `pillow-heif` is installed, and called by their name where it is not."""

import sys
from io import BytesIO

import numpy as np
import pillow_heif
import pytest
from PIL import Image

from recallseg.data.decoding import decode_photo, photo_header, read_photo
from recallseg.errors import RecallsegError
from recallseg.predict.files import find_photos


@pytest.fixture
def photo(tmp_path):
    pixels = np.zeros((48, 64, 3), dtype=np.uint8)
    pixels[:, :32] = (250, 20, 20)
    path = tmp_path / "IMG_0001.HEIC"
    pillow_heif.from_pillow(Image.fromarray(pixels)).save(path, quality=95)
    return path


def test_a_heic_photo_is_read(photo):
    image = read_photo(photo)
    assert (image.mode, image.size) == ("RGB", (64, 48))
    np.testing.assert_allclose(image.getpixel((8, 8)), (250, 20, 20), atol=12)
    assert photo_header(photo) == ((64, 48), 1)
    assert find_photos([str(photo.parent)]) == [photo]


def test_without_the_package_the_error_says_what_to_install(photo, monkeypatch):
    Image.init()  # Pillow loads its other formats now, and not into what is patched
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(Image, "OPEN", {k: v for k, v in Image.OPEN.items() if k != "HEIF"})
    monkeypatch.setattr(Image, "ID", [name for name in Image.ID if name != "HEIF"])
    with pytest.raises(RecallsegError, match=r"is a HEIC photo; `pip install 'recallseg\[heic\]'`"):
        read_photo(photo)


def test_uploaded_bytes_are_called_by_their_name_too(photo):
    with pytest.raises(RecallsegError, match="HEIC photo"):
        decode_photo(BytesIO(photo.read_bytes()), "The upload", formats=("PNG", "JPEG"))


def test_a_broken_file_is_not_called_heic(tmp_path):
    (tmp_path / "a.heic").write_bytes(b"no photo at all")
    with pytest.raises(RecallsegError, match="not an image that Pillow knows"):
        read_photo(tmp_path / "a.heic")
