"""HEIC photos, as phones take them: read if `pillow-heif` is installed, and named if it is not."""

from pathlib import Path
from typing import BinaryIO

HEIC_ENDINGS = (".heic", ".heif", ".hif")
BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")
"""How the first box of such a file is marked, after its length and `ftyp`."""


def add_heic(path: Path) -> None:
    """Let Pillow open HEIC photos from now on, if this is one and `pillow-heif` is installed."""
    if path.suffix.lower() in HEIC_ENDINGS:
        try:
            import pillow_heif
        except ImportError:
            return
        pillow_heif.register_heif_opener()


def heic_advice(source: Path | BinaryIO) -> str | None:
    """What to do about a photo that could not be read because it is HEIC; None if it is not."""
    try:
        if isinstance(source, Path):
            with source.open("rb") as file:
                start = file.read(12)
        else:
            source.seek(0)
            start = source.read(12)
    except (OSError, ValueError):
        return None
    if start[4:8] != b"ftyp" or start[8:12] not in BRANDS:
        return None
    return (
        "it is a HEIC photo; `pip install 'recallseg[heic]'` lets recallseg read files that end in "
        ".heic, or save it as JPEG"
    )
