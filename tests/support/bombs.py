"""Small files that are expensive to open."""

import gzip
import io

from PIL import Image


def scan_bomb(size=(3000, 3000), scans=20_000):
    """A progressive JPEG whose last scan, of a few bytes, comes again and again.

    Each time the decoder goes through all of the photo, which takes a minute of a fast core: far
    more than any test allows.
    """
    buffer = io.BytesIO()
    Image.new("L", size, 100).save(buffer, "JPEG", progressive=True)
    jpeg = buffer.getvalue()
    start, end = jpeg.rindex(b"\xff\xda"), jpeg.rindex(b"\xff\xd9")
    return jpeg[:end] + jpeg[start:end] * scans + jpeg[end:]


def gzip_bomb(layers=2, size=20_000_000):
    """Zeros, packed again and again."""
    data = bytes(size)
    for _ in range(layers):
        data = gzip.compress(data, mtime=0)
    return data
