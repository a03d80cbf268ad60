"""How much a server takes on."""

from dataclasses import dataclass

PHOTO_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
"""What is decoded; Pillow knows more, some of which start other programs."""


@dataclass(frozen=True)
class ServerLimits:
    """Bounds that keep a server alive whatever is sent to it."""

    upload_bytes: int = 20_000_000
    """A request may be so long; a longer one is refused while it arrives."""
    pixels: int = 40_000_000
    """A photo may have so many, by its header."""
    mask_pixels: int = 40_000_000
    """The masks of one answer may have so many together, which bounds its length."""
    seconds: float = 30.0
    """A request may take so long, from its first byte to its answer."""
    waiting: int = 16
    """So many requests are taken at a time; one of them is worked on."""
