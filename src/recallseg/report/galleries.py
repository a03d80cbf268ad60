"""Replay images with their pseudo-labels: what was kept, what was rejected, and whom to credit."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from recallseg.data.pictures import Pictures
from recallseg.report.images import mask_address, photo_address
from recallseg.report.runs import Run


@dataclass(frozen=True)
class Exhibit:
    """One replay image: photo and mask as `data:` addresses, and the web page that it is from."""

    photo: str
    mask: str
    size: tuple[int, int]
    rejected: str | None
    caption: str
    page: str | None


@dataclass(frozen=True)
class Gallery:
    """The replay images of one class, and how many of them were kept or rejected."""

    label: str
    kept: int
    rejected: dict[str, int]
    """How many, by reason."""
    exhibits: tuple[Exhibit, ...]


def galleries_of(run: Run) -> list[Gallery]:
    """One gallery per class that was replayed."""
    pictures = Pictures(run.folder.gallery)
    index = json.loads(pictures.text("index.json") or "[]")
    counts = _counts(run)
    exhibits: dict[str, list[Exhibit]] = {}
    for entry in index:
        exhibits.setdefault(entry["class_name"], []).append(_exhibit(pictures, entry))
    return [
        Gallery(label, *counts.get(label, (0, {})), tuple(images))
        for label, images in exhibits.items()
    ]


def _exhibit(pictures: Pictures, entry: dict[str, Any]) -> Exhibit:
    photo = pictures.photo(entry["name"])
    caption = [entry.get(key) for key in ("title", "credit", "licence")]
    page = entry.get("page") or ""
    return Exhibit(
        photo_address(photo),
        mask_address(pictures.mask(entry["name"])),
        photo.size,
        entry["rejected"],
        ", ".join(text for text in caption if text),
        page if urlsplit(page).scheme in ("http", "https") else None,
    )


def _counts(run: Run) -> dict[str, tuple[int, dict[str, int]]]:
    """How many images of each class were kept, and rejected for which reason."""
    counts: dict[str, tuple[int, dict[str, int]]] = {}
    for entry in run.folder.replay_images():
        kept, reasons = counts.get(entry["class_name"], (0, {}))
        if (why := entry["rejected"]) is None:
            kept += 1
        else:
            reasons[why] = reasons.get(why, 0) + 1
        counts[entry["class_name"]] = kept, reasons
    return counts
