"""Whether masks move with the photo: the same photo, predicted through a window that moves."""

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
"""The largest shift of a window, in pixels."""
BORDER = 32
"""Pixels along the edges of a window that do not count: their surroundings differ."""
OFFSETS = range(-12, 13)
"""Offsets from the expected position at which a mask is compared, in pixels."""
SMALLEST = 2 * (FARTHEST + BORDER) + len(OFFSETS)
"""Photos must have a larger shorter side, so that enough pixels count."""


def bench_shift(path: Path, photos: int) -> dict[str, Any]:
    """Move photos by 1 to 31 pixels, right and down, and compare the masks with the unmoved ones.

    For each shift: `iou`, how well the two agree once the mask is moved back: of all pixels that
    either gives to a class, the share that both give to the same one; and `moved`, the number of
    pixels by which the mask has to be moved back so that they agree best. A mask that follows its
    photo has moved by the shift.
    """
    data = RunFolder.existing(path).config.data
    dataset, predictor = open_dataset(data.name, data.val, data.root), Predictor.open(path)
    same, either = np.zeros((2, FARTHEST + 1, len(OFFSETS)), dtype=np.int64)
    measured = 0
    for row in range(0, len(dataset), max(1, len(dataset) // photos)):
        photo = np.asarray(dataset.read(row)[0])
        if min(photo.shape[:2]) > SMALLEST and measured < photos:
            still, *moved = _through_windows(predictor, photo)
            for shift, mask in enumerate(moved, start=1):
                for index, offset in enumerate(OFFSETS):
                    one, other = _laid_over(still, mask, offset)
                    same[shift, index] += ((one == other) & (one > 0)).sum()
                    either[shift, index] += ((one > 0) | (other > 0)).sum()
            measured += 1
    if not measured:
        raise RecallsegError(
            f"{dataset.root} has no photo of more than {SMALLEST} pixels per side."
        )
    iou = same / either.clip(min=1)
    return {
        "photos": measured,
        "shifts": [
            {
                "shift": shift,
                "iou": round(100 * float(iou[shift, OFFSETS.index(0)]), 2),
                "moved": shift - OFFSETS[int(iou[shift].argmax())],
            }
            for shift in range(1, FARTHEST + 1)
        ],
    }


def _through_windows(predictor: Predictor, photo: npt.NDArray[np.uint8]) -> list[Mask]:
    """The predicted masks of the middle of a photo, per window; the photo moves right and down."""
    height, width = (side - FARTHEST for side in photo.shape[:2])
    starts = range(FARTHEST, -1, -1)
    windows = (photo[start : start + height, start : start + width] for start in starts)
    masks = []
    for start, prediction in zip(starts, predictor.predict_many(windows), strict=True):
        first = FARTHEST - start + BORDER
        last_row, last_column = height - start - BORDER, width - start - BORDER
        masks.append(prediction.mask[first:last_row, first:last_column])
    return masks


def _laid_over(still: Mask, moved: Mask, offset: int) -> tuple[Mask, Mask]:
    """What two masks share when the second is laid over the first, `offset` pixels off."""
    before, after = max(0, -offset), max(0, offset)
    height, width = (side - abs(offset) for side in still.shape)
    return (
        still[after : after + height, after : after + width],
        moved[before : before + height, before : before + width],
    )
