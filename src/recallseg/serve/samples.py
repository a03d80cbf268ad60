"""Photos to click on for people who have none at hand."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PIL import Image, ImageDraw

from recallseg.data.decoding import read_photo
from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.errors import RecallsegError
from recallseg.runs.folder import RunFolder

SHOWN, LONGER_SIDE = 10, 1024


@dataclass(frozen=True)
class Sample:
    """A picture with a name to call it by."""

    name: str
    open: Callable[[], Image.Image]

    def jpeg(self) -> bytes:
        """The picture, no larger than is of use, without metadata."""
        image = self.open()
        image.thumbnail((LONGER_SIDE, LONGER_SIDE))
        image.info.clear()
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=92)
        return buffer.getvalue()


def find_samples(folder: Path | None) -> Sequence[Sample]:
    """Some photos from all over a folder, or two drawings without one."""
    if folder is None:
        return [Sample("a drawn boat", draw_boat), Sample("a drawn bus", draw_bus)]
    if not folder.is_dir():
        raise RecallsegError(f"The folder of samples {folder} does not exist.")
    paths = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in PHOTO_ENDINGS]
    if not paths:
        raise RecallsegError(f"{folder} holds no photo that ends in {', '.join(PHOTO_ENDINGS)}.")
    number = min(SHOWN, len(paths))
    chosen = [paths[place * len(paths) // number] for place in range(number)]
    return [Sample(path.stem, partial(read_photo, path)) for path in chosen]


def own_photos(model: Path) -> Path | None:
    """The photos that a model is measured on or was last taught with, if they are still there."""
    data = RunFolder.existing(model).config.data
    if data.name != "folder":
        return None
    for root in filter(None, (data.val_root, data.root)):
        folder = root / "images"
        if folder.is_dir() and any(
            each.suffix.lower() in PHOTO_ENDINGS for each in folder.iterdir()
        ):
            return folder
    return None


def draw_boat() -> Image.Image:
    """A sailing boat at sea."""
    image = Image.new("RGB", (480, 360), "#a9d4f0")
    draw = ImageDraw.Draw(image)
    draw.ellipse((370, 30, 430, 90), fill="#ffe9a8")
    draw.rectangle((0, 230, 480, 360), fill="#2f6f9f")
    for row in range(245, 360, 18):
        draw.line((0, row, 480, row + 4), fill="#3f82b3", width=3)
    draw.polygon([(130, 225), (350, 225), (315, 275), (165, 275)], fill="#7a3b20")
    draw.line((240, 60, 240, 225), fill="#4a2a18", width=6)
    draw.polygon([(246, 65), (340, 205), (246, 215)], fill="#f7f3ea")
    draw.polygon([(234, 85), (160, 205), (234, 215)], fill="#e9e1d0")
    return image


def draw_bus() -> Image.Image:
    """A bus on a road."""
    image = Image.new("RGB", (480, 360), "#bfe0f5")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 190, 480, 270), fill="#79a860")
    draw.rectangle((0, 262, 480, 360), fill="#5b5f66")
    for left in range(10, 480, 90):
        draw.rectangle((left, 318, left + 45, 324), fill="#e8e6df")
    draw.rounded_rectangle((70, 110, 410, 280), radius=18, fill="#c8321f")
    for left in range(90, 370, 62):
        draw.rounded_rectangle((left, 130, left + 50, 190), radius=5, fill="#cfe3ee")
    draw.rectangle((345, 200, 390, 278), fill="#8e1f12")
    for left in (110, 300):
        draw.ellipse((left, 250, left + 62, 312), fill="#202124")
        draw.ellipse((left + 19, 269, left + 43, 293), fill="#a9abb0")
    return image
