"""A zip file of small pictures, which a run writes for people to look at."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from recallseg.checksums import check
from recallseg.data.dataset import Mask
from recallseg.data.palette import voc_palette
from recallseg.data.shrink import resized
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path

LONGER_SIDE = 256
"""Larger pictures are shrunk to this, in pixels."""


class PictureWriter:
    """Adds pictures to a zip file, shrunk to `longer_side`."""

    def __init__(self, archive: zipfile.ZipFile, longer_side: int) -> None:
        self.archive, self.longer_side = archive, longer_side

    def add_mask(self, name: str, mask: Mask) -> None:
        """Add class ids as a palette PNG in VOC's colours."""
        image = self._small(Image.fromarray(mask), Image.Resampling.NEAREST)
        image.putpalette(voc_palette().tobytes())
        self._add(f"{name}.png", image, "PNG")

    def add_photo(self, name: str, photo: Image.Image) -> None:
        """Add a photo as a JPEG, without the metadata of its file."""
        self._add(f"{name}.jpg", self._small(photo, Image.Resampling.LANCZOS), "JPEG")

    def add_text(self, name: str, text: str) -> None:
        """Add a text file that describes the pictures."""
        self.archive.writestr(zipfile.ZipInfo(name), text)

    def _small(self, image: Image.Image, resampling: Image.Resampling) -> Image.Image:
        return image.resize(resized(image.size, self.longer_side), resampling)

    def _add(self, name: str, image: Image.Image, kind: str) -> None:
        buffer = BytesIO()
        image.save(buffer, kind, quality=85)
        self.archive.writestr(zipfile.ZipInfo(name), buffer.getvalue())


@contextmanager
def write_pictures(path: Path, longer_side: int = LONGER_SIDE) -> Iterator[PictureWriter]:
    """A zip file to add pictures to; it is complete when the block ends, or not there at all."""
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        yield PictureWriter(archive, longer_side)


class Pictures:
    """The pictures in a zip file; an absent file holds none, a broken one is an error."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._archive: zipfile.ZipFile | None = None
        if self.path.is_file():
            with self._readable():
                self._archive = zipfile.ZipFile(check(self.path))

    def names(self) -> list[str]:
        """The names of all masks, without their endings."""
        names = self._archive.namelist() if self._archive else []
        return [name.removesuffix(".png") for name in names if name.endswith(".png")]

    def mask(self, name: str) -> Mask:
        """A mask's class ids (H, W)."""
        with self._readable(), Image.open(BytesIO(self._bytes(f"{name}.png"))) as image:
            return np.array(image, dtype=np.uint8)

    def photo(self, name: str) -> Image.Image:
        """A photo."""
        with self._readable(), Image.open(BytesIO(self._bytes(f"{name}.jpg"))) as image:
            return image.convert("RGB")

    def text(self, name: str) -> str | None:
        """A text file that describes the pictures, or None if there is none."""
        exists = self._archive is not None and name in self._archive.namelist()
        with self._readable():
            return self._bytes(name).decode() if exists else None

    def _bytes(self, name: str) -> bytes:
        assert self._archive is not None
        return self._archive.read(name)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn what can be wrong with a zip file and the pictures in it into a sentence."""
        try:
            yield
        except RecallsegError:
            raise
        except Exception as error:  # broken files make zipfile and Pillow raise almost anything
            raise RecallsegError(
                f"The pictures {self.path} cannot be read: {error}. Delete the file to do without."
            ) from error
