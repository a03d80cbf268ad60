"""Sheets of samples: one labelled row of images per class."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from recallseg.errors import RecallsegError
from recallseg.files import atomic_path
from recallseg.gan.biggan import BigGAN
from recallseg.gan.generator import sample

GAP = 2
MOST_ROWS = 20


def draw_sheet(rows: Mapping[str, Sequence[Tensor]]) -> Image.Image:
    """Images (3,H,W) in bytes, all of one size, in rows with their names on the left."""
    font = ImageFont.load_default()
    margin = 2 * GAP + max(round(font.getlength(name)) for name in rows)
    height, width = next(iter(rows.values()))[0].shape[1:]
    columns = max(map(len, rows.values()))
    size = (margin + columns * (width + GAP), GAP + len(rows) * (height + GAP))
    sheet = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(sheet)
    for row, (name, images) in enumerate(rows.items()):
        top = GAP + row * (height + GAP)
        pen.text((GAP, top + height / 2), name, fill="black", font=font, anchor="lm")
        for column, image in enumerate(images):
            corner = (margin + column * (width + GAP), top)
            sheet.paste(Image.fromarray(image.permute(1, 2, 0).numpy()), corner)
    return sheet


def write_sample_sheet(
    path: Path,
    generator: BigGAN,
    names: Sequence[str] | None = None,
    *,
    classes: Sequence[int] | None = None,
    per_class: int = 8,
    truncation: float = 1.0,
    seed: int = 0,
) -> None:
    """Write samples of some classes as a PNG, by default of the first `MOST_ROWS`."""
    if path.suffix.lower() != ".png":
        raise RecallsegError(f"A sheet of samples is written as .png, unlike {path}.")
    class_ids = range(generator.config.num_classes)[:MOST_ROWS] if classes is None else classes
    rows = {}
    for class_id in class_ids:
        images = sample(generator, class_id, per_class, truncation=truncation, seed=seed)
        rows[f"{class_id} {names[class_id]}" if names else f"{class_id}"] = [*images]
    with atomic_path(path) as temporary:
        draw_sheet(rows).save(temporary)
