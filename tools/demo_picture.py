"""Draw the README's picture from what `recallseg demo` left: one scene, method by step.

    python tools/demo_picture.py demo docs/demo.png [SCENE]

SCENE is a validation scene such as val-00012; by default the one of two or more classes in which
RECALL is ahead by the widest margin.
"""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from recallseg.data import open_dataset
from recallseg.data.palette import voc_palette
from recallseg.data.pictures import Pictures
from recallseg.runs.folder import RunFolder

ROWS = {"FT": "ft", "Inpainting": "inpainting", "RECALL (GAN)": "recall-gan"}
ROWS |= {"RECALL (Web)": "recall-web"}
STEPS = ["after 15 classes", "+ pottedplant", "+ sheep", "+ sofa", "+ train", "+ tvmonitor"]
SIZE = (216, 168)
LEFT, TOP, GAP = 132, 30, 6
INK, PAPER = (26, 32, 44), (255, 255, 255)


def archives(demo: Path, row: str) -> list[Pictures]:
    """What a row's models saw, step by step."""
    steps = range(len(STEPS))
    return [Pictures(RunFolder(demo / f"{row}-s0").step(step).predictions) for step in steps]


def agreement(seen: npt.NDArray[np.uint8], truth: npt.NDArray[np.uint8]) -> float:
    """The share of what is not background in either that is right."""
    either = ((seen > 0) | (truth > 0)) & (truth != 255)
    return float((seen == truth)[either].mean()) if either.any() else 0.0


def margin(seen: dict[str, list[Pictures]], stem: str, truth: npt.NDArray[np.uint8]) -> float:
    """How much more of a scene RECALL is right about in the end than the others."""
    right = {label: agreement(steps[-1].mask(stem), truth) for label, steps in seen.items()}
    return sum(share if "RECALL" in label else -share for label, share in right.items())


def overlay(photo: Image.Image, mask: npt.NDArray[np.uint8]) -> Image.Image:
    """A photo with its labels over it."""
    base = np.asarray(photo.resize(SIZE, Image.Resampling.LANCZOS), dtype=float)
    labels = np.asarray(Image.fromarray(mask).resize(SIZE, Image.Resampling.NEAREST))
    colours = voc_palette()[labels].astype(float)
    strength = np.where((labels > 0) & (labels < 255), 0.68, 0.0)[..., None]
    return Image.fromarray((base * (1 - strength) + colours * strength).astype(np.uint8))


def main(demo: Path, out: Path, scene: str | None = None) -> None:
    """Draw the picture."""
    seen = {label: archives(demo, row) for label, row in ROWS.items()}
    dataset = open_dataset("toy", "val", None)
    pairs = {pair.stem: dataset.read(row) for row, pair in enumerate(dataset.pairs)}
    if scene is None:
        several = [stem for stem, (_, mask) in pairs.items() if len(np.unique(mask)) > 3]
        scene = max(several, key=lambda stem: margin(seen, stem, pairs[stem][1]))
    photo, _ = pairs[scene]
    width = LEFT + len(STEPS) * (SIZE[0] + GAP)
    sheet = Image.new("RGB", (width, TOP + len(ROWS) * (SIZE[1] + GAP)), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=17)
    for column, text in enumerate(STEPS):
        draw.text((LEFT + column * (SIZE[0] + GAP), 5), text, INK, font)
    for row, (label, steps) in enumerate(seen.items()):
        y = TOP + row * (SIZE[1] + GAP)
        draw.text((4, y + SIZE[1] // 2 - 10), label, INK, font)
        for column, archive in enumerate(steps):
            sheet.paste(overlay(photo, archive.mask(scene)), (LEFT + column * (SIZE[0] + GAP), y))
    sheet.quantize(255).save(out, optimize=True)
    sys.stdout.write(f"{scene}: {out}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:4])
