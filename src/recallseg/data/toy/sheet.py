"""A contact sheet of the drawn world: scenes beside their masks, one row per other style."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from recallseg.data.palette import voc_palette
from recallseg.data.toy.portraits import SUBJECTS, draw_plate, draw_snapshot
from recallseg.data.toy.scenes import MAINS, SIZE, draw_scene
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path

GAP = 4
PAIRS = 4
"""The number of scenes per row, each beside its mask."""
WIDTH = 2 * PAIRS * (SIZE[0] + GAP) + GAP

Tile = npt.NDArray[np.uint8]


def write_sheet(path: Path, *, rows: int = 5, seed: int = 0, zoom: int = 2) -> None:
    """Write the sheet as a PNG: `rows` rows of scenes, then site photos and picture plates."""
    if path.suffix.lower() != ".png":
        raise RecallsegError(f"A contact sheet is written as .png, unlike {path}.")
    with atomic_path(path) as temporary:
        draw_sheet(rows, seed, zoom).save(temporary)


def draw_sheet(rows: int, seed: int = 0, zoom: int = 2) -> Image.Image:
    """The sheet as an image; masks are in VOC's colours."""
    pairs = _pairs(seed)
    scenes = [[tile for _ in range(PAIRS) for tile in next(pairs)] for _ in range(rows)]
    count = WIDTH // (SIZE[1] + GAP)
    subjects = list(SUBJECTS)[:: len(SUBJECTS) // count]
    mains = [MAINS[7 * index % len(MAINS)] for index in range(2 * PAIRS)]
    lines = [
        *scenes,
        [draw_snapshot(seed, index, [name], SIZE) for index, name in enumerate(mains)],
        [draw_plate(seed, name, 0, SIZE[1]) for name in subjects[:count]],
    ]
    sheet = Image.new("RGB", (WIDTH, len(lines) * (SIZE[1] + GAP) + GAP), "white")
    for line, tiles in enumerate(lines):
        _paste(sheet, tiles, GAP + line * (SIZE[1] + GAP))
    return sheet.resize((sheet.width * zoom, sheet.height * zoom), Image.Resampling.BICUBIC)


def _paste(sheet: Image.Image, tiles: Sequence[Tile], top: int) -> None:
    """Put tiles into a row, with equal gaps that fill its width."""
    blank = WIDTH - 2 * GAP - sum(tile.shape[1] for tile in tiles)
    left = GAP
    for index, tile in enumerate(tiles):
        shift = blank * index // max(1, len(tiles) - 1)
        sheet.paste(Image.fromarray(tile), (left + shift, top))
        left += tile.shape[1]


def _pairs(seed: int) -> Iterator[tuple[Tile, Tile]]:
    """Scenes in landscape with their masks in colour, as many as are asked for."""
    palette, number = voc_palette(), 0
    while True:
        photo, mask = draw_scene(seed, number)
        if photo.shape[1] == SIZE[0]:
            yield photo, palette[mask]
        number += 1
