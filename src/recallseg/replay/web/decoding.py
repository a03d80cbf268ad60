"""From downloaded bytes to a clean photo: checked, upright, without metadata."""

import io
from collections.abc import Iterable
from dataclasses import dataclass

import imagehash
from PIL import Image

from recallseg.data.decoders import DecodingLimits, SlowPhotoError, shared_decoders
from recallseg.data.decoding import TooManyPixelsError
from recallseg.errors import RecallsegError
from recallseg.replay.web.failures import BadPhoto

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


@dataclass(frozen=True)
class PhotoRules:
    """What a download must be like to be kept, and how it is stored; lengths are in pixels."""

    min_side: int = 96
    max_pixels: int = 40_000_000
    seconds: float = 20.0
    """How long a photo may take to be decoded; usual ones take less than one."""
    longer_side: int | None = 500
    """Larger photos are shrunk to this; VOC's have 500 at most. None keeps the size."""
    quality: int = 95
    near: int = 4
    """Photos whose fingerprints differ in at most this number of 64 bits are duplicates."""


def clean_jpeg(data: bytes, rules: PhotoRules) -> bytes:
    """The photo as an RGB JPEG without EXIF or any other metadata, or a BadPhoto.

    The size is checked before a pixel is decoded, so that a decompression bomb costs nothing.
    """
    photo = _decode(data, rules)
    if rules.longer_side:
        photo.thumbnail((rules.longer_side, rules.longer_side), Image.Resampling.LANCZOS)
    photo.info.clear()
    buffer = io.BytesIO()
    photo.save(buffer, "JPEG", quality=rules.quality)
    return buffer.getvalue()


def fingerprint(jpeg: bytes) -> str:
    """The perceptual hash of an image: 64 bits as 16 hexadecimal digits."""
    with Image.open(io.BytesIO(jpeg)) as photo:
        return str(imagehash.phash(photo))


def is_near(phash: str, others: Iterable[str], distance: int) -> bool:
    """Whether a fingerprint is within a Hamming distance of one of the others."""
    bits = int(phash, 16)
    return any((bits ^ int(other, 16)).bit_count() <= distance for other in others)


def _decode(data: bytes, rules: PhotoRules) -> Image.Image:
    """The upright RGB photo, decoded by a process that is killed if it takes too long."""
    decoders = shared_decoders(DecodingLimits(FORMATS, rules.max_pixels, rules.seconds))
    try:
        photo = decoders.decode(data, "The photo")
    except TooManyPixelsError as error:
        raise BadPhoto("too many pixels") from error
    except SlowPhotoError as error:
        raise BadPhoto("takes too long to decode") from error
    except RecallsegError as error:
        raise BadPhoto("cannot be decoded") from error
    if min(photo.size) < rules.min_side:
        raise BadPhoto("too small")
    return photo
