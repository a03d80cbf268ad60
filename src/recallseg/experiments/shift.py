"""Whether masks move with the photo: the same photo at several places of a larger canvas."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recallseg.data import open_dataset
from recallseg.data.dataset import Mask
from recallseg.errors import RecallsegError
from recallseg.predict.predictor import Predictor
from recallseg.runs.folder import RunFolder

FARTHEST = 31
"""The largest shift of a photo, in pixels."""
MARGIN = 192
"""The canvas around a photo, which takes the borders out of a decoder's reach."""
OFFSETS = range(-8, 9)
"""Offsets from the expected position at which a mask is compared, in pixels."""
SMALLEST = len(OFFSETS)
"""Photos must have a larger shorter side, so that enough pixels count."""


def bench_shift(path: Path, photos: int, placements: int = 1, every: int = 1) -> dict[str, Any]:
    """Move photos by 1 to 31 pixels, right and down, and compare the masks with the unmoved ones.

    Photos lie on a canvas of the colour that the network takes for nothing, so that the same is
    seen at every place. For each shift: `iou`, how well the two masks agree once the moved one is
    moved back: of all pixels that either gives to a class, the share that both give to the same
    one; `pixels`, the share of all pixels of the photo that agree; and `moved`, the number of
    pixels by which the mask has to be moved back so that they agree best. A mask that follows its
    photo has moved by the shift.
    """
    data = RunFolder.existing(path).config.data
    dataset = open_dataset(data.name, data.val, data.root)
    predictor = Predictor.open(path, placements=placements)
    shifts = range(1, FARTHEST + 1, every)
    same, either, agree, pixels = np.zeros((4, len(shifts), len(OFFSETS)), dtype=np.int64)
    measured = 0
    for row in range(0, len(dataset), max(1, len(dataset) // photos)):
        photo = np.asarray(dataset.read(row)[0])
        if min(photo.shape[:2]) > SMALLEST and measured < photos:
            still, *moved = _on_canvas(predictor, photo, [0, *shifts])
            for number, mask in enumerate(moved):
                for index, offset in enumerate(OFFSETS):
                    one, other = _laid_over(still, mask, offset)
                    same[number, index] += ((one == other) & (one > 0)).sum()
                    either[number, index] += ((one > 0) | (other > 0)).sum()
                    agree[number, index] += (one == other).sum()
                    pixels[number, index] += one.size
            measured += 1
    if not measured:
        raise RecallsegError(
            f"{dataset.root} has no photo of more than {SMALLEST} pixels per side."
        )
    iou, accuracy, still_there = same / either.clip(min=1), agree / pixels, OFFSETS.index(0)
    return {
        "photos": measured,
        "placements": placements,
        "shifts": [
            {
                "shift": shift,
                "iou": round(100 * float(iou[number, still_there]), 2),
                "pixels": round(100 * float(accuracy[number, still_there]), 2),
                "moved": shift - OFFSETS[int(iou[number].argmax())],
            }
            for number, shift in enumerate(shifts)
        ],
    }


def _on_canvas(predictor: Predictor, photo: npt.NDArray[np.uint8], shifts: list[int]) -> list[Mask]:
    """The predicted masks of a photo that lies further right and down by each shift."""
    height, width = photo.shape[:2]
    room = 2 * MARGIN + FARTHEST
    canvas = np.full((height + room, width + room, 3), predictor.model.encoder.mean_colour)

    def placed(shift: int) -> npt.NDArray[np.uint8]:
        copy, start = canvas.astype(np.uint8), MARGIN + shift
        copy[start : start + height, start : start + width] = photo
        return copy

    seen = predictor.predict_many(placed(shift) for shift in shifts)
    starts = (MARGIN + shift for shift in shifts)
    return [
        prediction.mask[start : start + height, start : start + width]
        for start, prediction in zip(starts, seen, strict=True)
    ]


def _laid_over(still: Mask, moved: Mask, offset: int) -> tuple[Mask, Mask]:
    """What two masks share when the second is laid over the first, `offset` pixels off."""
    before, after = max(0, -offset), max(0, offset)
    height, width = (side - abs(offset) for side in still.shape)
    return (
        still[after : after + height, after : after + width],
        moved[before : before + height, before : before + width],
    )
