"""Whether masks follow what they show: the same photo, looked at through a window that moves."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recallseg.data import open_dataset
from recallseg.data.dataset import Mask
from recallseg.engine.folder import RunFolder
from recallseg.engine.predicting import Predictor
from recallseg.errors import RecallsegError
from recallseg.metrics.scores import Confusion, iou, mean_of_known

FARTHEST = 31
"""The longest way that a window moves, in pixels."""
BORDER = 32
"""Pixels along the edges of a window that do not count: what is beyond them differs."""
SMALLEST = 2 * (FARTHEST + BORDER)
"""No pixel of a smaller photo would count."""


def bench_shift(path: Path, photos: int) -> dict[str, Any]:
    """Compare the masks of windows that moved by 1 to 31 pixels with the mask of one that did not.

    `miou` is the mean over all classes that either of them shows, `foreground` is the IoU of all
    things taken together, each pixel with its class, and `pixels` the share that agrees.
    """
    data = RunFolder.existing(path).config.data
    dataset, predictor = open_dataset(data.name, data.val, data.root), Predictor.open(path)
    channels = len(predictor.class_names)
    counts = np.zeros((FARTHEST + 1, channels, channels), dtype=np.int64)
    looked_at = 0
    for row in range(0, len(dataset), max(1, len(dataset) // photos)):
        photo = np.asarray(dataset.read(row)[0])
        if min(photo.shape[:2]) > SMALLEST and looked_at < photos:
            seen = _through_windows(predictor, photo)
            for moved, mask in zip(counts, seen, strict=True):
                np.add.at(moved, (seen[0], mask), 1)
            looked_at += 1
    if not looked_at:
        raise RecallsegError(f"{dataset.root} has no photo of more than {SMALLEST} pixels a side.")
    return {
        "photos": looked_at,
        "shifts": [_agreement(d, counts[d]) for d in range(1, FARTHEST + 1)],
    }


def _through_windows(predictor: Predictor, photo: npt.NDArray[np.uint8]) -> list[Mask]:
    """What is seen in the middle of a photo, through a window that moves right and down."""
    height, width = (side - FARTHEST for side in photo.shape[:2])
    windows = (photo[d : d + height, d : d + width] for d in range(FARTHEST + 1))
    found = []
    for d, prediction in enumerate(predictor.predict_many(windows)):
        first = FARTHEST - d + BORDER
        last_row, last_column = height - d - BORDER, width - d - BORDER
        found.append(prediction.mask[first:last_row, first:last_column])
    return found


def _agreement(shift: int, counts: Confusion) -> dict[str, float]:
    things = counts.sum() - counts[0, 0]
    return {
        "shift": shift,
        "miou": round(100 * mean_of_known(iou(counts)), 2),
        "foreground": round(100 * float(np.trace(counts) - counts[0, 0]) / max(1, int(things)), 2),
        "pixels": round(100 * float(np.trace(counts) / counts.sum()), 2),
    }
