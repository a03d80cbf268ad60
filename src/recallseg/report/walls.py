"""Replay images with their pseudo-labels: what was kept, what was rejected, and whose they are."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from recallseg.data.pictures import Pictures
from recallseg.report.images import mask_address, photo_address
from recallseg.report.runs import Run


@dataclass(frozen=True)
class Exhibit:
    """One replay image; addresses are `data:` ones, except that of the page that shows it."""

    photo: str
    mask: str
    size: tuple[int, int]
    rejected: str | None
    caption: str
    page: str | None


@dataclass(frozen=True)
class Wall:
    """The images of one class, with how many there were."""

    label: str
    kept: int
    rejected: dict[str, int]
    """By reason."""
    exhibits: tuple[Exhibit, ...]


def walls_of(run: Run) -> list[Wall]:
    """A wall for each class that was replayed."""
    pictures = Pictures(run.folder.gallery)
    index = json.loads(pictures.text("index.json") or "[]")
    counts = _counts(run)
    walls: dict[str, list[Exhibit]] = {}
    for entry in index:
        walls.setdefault(entry["class_name"], []).append(_exhibit(pictures, entry))
    return [
        Wall(label, *counts.get(label, (0, {})), tuple(exhibits))
        for label, exhibits in walls.items()
    ]


def _exhibit(pictures: Pictures, entry: dict[str, Any]) -> Exhibit:
    photo = pictures.photo(entry["name"])
    told = [entry.get(key) for key in ("title", "credit", "licence")]
    page = entry.get("page") or ""
    return Exhibit(
        photo_address(photo),
        mask_address(pictures.mask(entry["name"])),
        photo.size,
        entry["rejected"],
        ", ".join(text for text in told if text),
        page if urlsplit(page).scheme in ("http", "https") else None,
    )


def _counts(run: Run) -> dict[str, tuple[int, dict[str, int]]]:
    """How many images of each class were kept, and rejected for which reason."""
    found: dict[str, tuple[int, dict[str, int]]] = {}
    for entry in run.folder.replay_images():
        kept, reasons = found.get(entry["class_name"], (0, {}))
        if (why := entry["rejected"]) is None:
            kept += 1
        else:
            reasons[why] = reasons.get(why, 0) + 1
        found[entry["class_name"]] = kept, reasons
    return found
