"""How much a server takes on."""

import os
from dataclasses import dataclass, field

PHOTO_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
"""What is decoded; Pillow knows more, some of which start other programs."""


def usable_cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class ServerLimits:
    """Bounds that keep a server alive whatever is sent to it."""

    upload_bytes: int = 20_000_000
    """A request may be so long; a longer one is refused while it arrives."""
    body_bytes: int = 200_000_000
    """All requests that are arriving or waiting may be so long together, those of one client a
    quarter of it."""
    pixels: int = 40_000_000
    """A photo may have so many, by its header."""
    mask_pixels: int = 40_000_000
    """The masks of one answer may have so many together, which bounds its length."""
    header_seconds: float = 10.0
    """The head of a request must be there after so long."""
    body_seconds: float = 30.0
    """And its body so long after that; only then does it take a place among those who wait."""
    decode_seconds: float = 10.0
    """A photo may take so long to be decoded; then the process that decodes it is killed."""
    seconds: float = 30.0
    """A request may take so long, from when it is complete to its answer."""
    waiting: int = 64
    """So many complete requests may wait; when more come, the client with the most loses one."""
    connections: int = 1000
    """So many connections may be open."""
    connections_per_client: int = 100
    """So many may one client have; when it opens more, the one that has been sending for longest is
    closed."""
    per_minute: float | None = None
    """So many photos may a client send in a minute; None is no such limit."""
    workers: int = field(default_factory=usable_cores)
    """So many batches of photos are looked at at a time."""
    grace: float = 20.0
    """Seconds for which a server that is told to stop works on what waits."""
