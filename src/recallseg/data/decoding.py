"""From files to pixels: photos in RGB, upright, and masks of class ids; errors are sentences."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from recallseg.data.heic import add_heic, heic_advice
from recallseg.data.upright import as_rgb, orientation
from recallseg.errors import RecallsegError
from recallseg.files import check_regular

Mask = npt.NDArray[np.uint8]
"""Class ids (H, W)."""


class TooManyPixelsError(RecallsegError):
    """A photo has more pixels than its reader allows."""


def read_photo(path: Path) -> Image.Image:
    """Decode a photo to RGB, upright as its EXIF orientation says."""
    return decode_photo(path, f"The photo {path}")


def decode_photo(
    source: Path | BinaryIO,
    called: str,
    *,
    formats: tuple[str, ...] | None = None,
    max_pixels: int | None = None,
) -> Image.Image:
    """A photo in RGB, upright, from a file or from bytes; errors name it as it is `called`.

    A limit on its pixels, which takes the place of Pillow's warning, is held against the header
    before any of them is decoded. A large photo is in memory once: no copy is made without need.
    """
    with _opened(source, called, formats, max_pixels) as image:
        ImageOps.exif_transpose(image, in_place=True)
        return as_rgb(image, called)


def photo_header(path: Path, max_pixels: int | None = None) -> tuple[tuple[int, int], int]:
    """The (width, height) of a photo as it lies in its file, and its EXIF orientation."""
    with _opened(path, f"The photo {path}", None, max_pixels) as image:
        return image.size, orientation(image)


def image_size(path: Path, called: str, max_pixels: int | None = None) -> tuple[int, int]:
    """The (width, height) of an image as it lies in its file, of which nothing is decoded."""
    with _opened(path, called, None, max_pixels) as image:
        return image.size


@contextmanager
def _opened(
    source: Path | BinaryIO, called: str, formats: tuple[str, ...] | None, max_pixels: int | None
) -> Iterator[Image.Image]:
    """An image of which only the header was read; errors from then on are sentences."""
    try:
        if isinstance(source, Path):
            check_regular(source)
            add_heic(source)
        with _unwarned(max_pixels), Image.open(source, formats=formats) as image:
            _check_pixels(image, called, max_pixels)
            yield image
    except RecallsegError:
        raise
    except FileNotFoundError as error:
        raise RecallsegError(f"{called} does not exist.") from error
    except Image.DecompressionBombError as error:
        raise TooManyPixelsError(f"{called} cannot be read: {_reason(error)}.") from error
    except Exception as error:  # broken files make decoders raise almost anything
        why = heic_advice(source) or _reason(error)
        raise RecallsegError(f"{called} cannot be read: {why}.") from error


def _unwarned(max_pixels: int | None) -> AbstractContextManager[object]:
    """Keep Pillow from warning of large photos where there is a limit of our own."""
    if max_pixels is None:
        return nullcontext()
    return warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning)


def _check_pixels(image: Image.Image, called: str, most: int | None) -> None:
    if most and image.width * image.height > most:
        raise TooManyPixelsError(
            f"{called} has {image.width}×{image.height} px; at most {most / 1e6:g} million pixels "
            "are taken."
        )


def read_mask(path: Path) -> Mask:
    """Decode a mask of class ids, (H, W), from a grey or palette image."""
    try:
        check_regular(path)
        with Image.open(path) as image:
            if image.mode not in ("L", "P", "1"):
                raise RecallsegError(
                    f"The mask {path} has {len(image.getbands())} channel(s) of mode {image.mode}; "
                    "a mask is one channel of class ids (grey or palette PNG), which "
                    "`recallseg data import` makes of colours."
                )
            return np.array(image, dtype=np.uint8)
    except FileNotFoundError as error:
        raise RecallsegError(f"The mask {path} does not exist.") from error
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, ValueError) as error:
        raise RecallsegError(f"The mask {path} cannot be read: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, UnidentifiedImageError):
        return "it is not an image that Pillow knows"
    return str(error).rstrip(".") or type(error).__name__
