"""Replay images with their pseudo-labels: what was kept, what was rejected, and whom to credit."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from recallseg.data.pictures import Pictures
from recallseg.report.images import mask_address, photo_address
from recallseg.report.runs import Run
from recallseg.runs.records import ReplayRecord, read_text_record


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
    text = pictures.text("index.json") or "[]"
    index = read_text_record(text, list[ReplayRecord], f"The index of {run.folder.gallery}")
    counts = _counts(run)
    exhibits: dict[str, list[Exhibit]] = {}
    for entry in index:
        exhibits.setdefault(entry.get("class_name", ""), []).append(_exhibit(pictures, entry))
    return [
        Gallery(label, *counts.get(label, (0, {})), tuple(images))
        for label, images in exhibits.items()
    ]


def _exhibit(pictures: Pictures, entry: ReplayRecord) -> Exhibit:
    name = entry.get("name", "")
    photo = pictures.photo(name)
    caption = [entry.get("title"), entry.get("credit"), entry.get("licence")]
    page = entry.get("page") or ""
    return Exhibit(
        photo_address(photo),
        mask_address(pictures.mask(name)),
        photo.size,
        entry.get("rejected"),
        ", ".join(text for text in caption if text),
        page if is_web_address(page) else None,
    )


def _counts(run: Run) -> dict[str, tuple[int, dict[str, int]]]:
    """How many images of each class were kept, and rejected for which reason."""
    counts: dict[str, tuple[int, dict[str, int]]] = {}
    for entry in run.folder.replay_images():
        label = entry.get("class_name", "")
        kept, reasons = counts.get(label, (0, {}))
        if (why := entry.get("rejected")) is None:
            kept += 1
        else:
            reasons[why] = reasons.get(why, 0) + 1
        counts[label] = kept, reasons
    return counts


def is_web_address(text: str) -> bool:
    """Whether a link may lead there; other schemes could run code."""
    try:
        return urlsplit(text).scheme in ("http", "https")
    except ValueError:
        return False
