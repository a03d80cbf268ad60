"""Whether masks follow what they show: the same photo, looked at through a window that moves."""

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
"""The longest way that a window moves, in pixels."""
BORDER = 32
"""Pixels along the edges of a window that do not count: what is beyond them differs."""
ASTRAY = range(-12, 13)
"""How far beside its place a mask is looked for, in pixels."""
SMALLEST = 2 * (FARTHEST + BORDER) + len(ASTRAY)
"""Of a smaller photo too little is left that counts."""


def bench_shift(path: Path, photos: int) -> dict[str, Any]:
    """Move photos by 1 to 31 pixels, right and down, and compare the masks with the unmoved ones.

    For each shift: `iou`, how well the two agree once the mask is moved back: of all pixels that
    either gives to a thing, the share that both give to the same one; and `moved`, the number of
    pixels by which the mask has to be moved back so that they agree best. A mask that follows its
    photo has moved by the shift.
    """
    data = RunFolder.existing(path).config.data
    dataset, predictor = open_dataset(data.name, data.val, data.root), Predictor.open(path)
    same, either = np.zeros((2, FARTHEST + 1, len(ASTRAY)), dtype=np.int64)
    looked_at = 0
    for row in range(0, len(dataset), max(1, len(dataset) // photos)):
        photo = np.asarray(dataset.read(row)[0])
        if min(photo.shape[:2]) > SMALLEST and looked_at < photos:
            still, *moved = _through_windows(predictor, photo)
            for shift, mask in enumerate(moved, start=1):
                for place, astray in enumerate(ASTRAY):
                    one, other = _laid_over(still, mask, astray)
                    same[shift, place] += ((one == other) & (one > 0)).sum()
                    either[shift, place] += ((one > 0) | (other > 0)).sum()
            looked_at += 1
    if not looked_at:
        raise RecallsegError(f"{dataset.root} has no photo of more than {SMALLEST} pixels a side.")
    iou = same / either.clip(min=1)
    return {
        "photos": looked_at,
        "shifts": [
            {
                "shift": shift,
                "iou": round(100 * float(iou[shift, ASTRAY.index(0)]), 2),
                "moved": shift - ASTRAY[int(iou[shift].argmax())],
            }
            for shift in range(1, FARTHEST + 1)
        ],
    }


def _through_windows(predictor: Predictor, photo: npt.NDArray[np.uint8]) -> list[Mask]:
    """The middle of a photo as it is seen through each window; the photo moves right and down."""
    height, width = (side - FARTHEST for side in photo.shape[:2])
    starts = range(FARTHEST, -1, -1)
    windows = (photo[start : start + height, start : start + width] for start in starts)
    found = []
    for start, prediction in zip(starts, predictor.predict_many(windows), strict=True):
        first = FARTHEST - start + BORDER
        last_row, last_column = height - start - BORDER, width - start - BORDER
        found.append(prediction.mask[first:last_row, first:last_column])
    return found


def _laid_over(still: Mask, moved: Mask, astray: int) -> tuple[Mask, Mask]:
    """What two masks share when the second is laid over the first, `astray` pixels off."""
    before, after = max(0, -astray), max(0, astray)
    height, width = (side - abs(astray) for side in still.shape)
    return (
        still[after : after + height, after : after + width],
        moved[before : before + height, before : before + width],
    )
