"""Predictions for Label Studio: tasks with brush masks, which hold holes exactly.

They are for Label Studio's own template for masks, whose tags are called `image` and `tag`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from PIL import Image

from recallseg.data.rle import Hits
from recallseg.predict.prediction import Prediction
from recallseg.predict.writers.base import FreeNames, Writer, classes_seen
from recallseg.predict.writers.outlines import TOLERANCE

if TYPE_CHECKING:
    from recallseg.predict.predictor import Predictor

LOCAL_FILES = "/data/local-files/?d="
"""The address at which Label Studio serves files below its folder for local files."""
CHANNELS = 4
LONGEST = 1 << 16
"""The longest run of one item: its length less one has 16 bits."""


class LabelStudioWriter(Writer):
    """One list of tasks for all photos."""

    title = "one file of tasks for Label Studio"
    value: list[Any]

    def __init__(
        self, predictor: "Predictor", names: FreeNames, tolerance: float = TOLERANCE
    ) -> None:
        super().__init__(predictor, names, tolerance)
        self.value = []

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Remember the photo's task."""
        results = [
            {
                "id": f"{len(self.value) + 1}-{score.channel}",
                "type": "brushlabels",
                "from_name": "tag",
                "to_name": "image",
                "original_width": photo.width,
                "original_height": photo.height,
                "image_rotation": 0,
                "score": round(score.confidence, 4),
                "value": {
                    "format": "rle",
                    "rle": packed_runs(hits),
                    "brushlabels": [score.name],
                },
            }
            for score, hits in classes_seen(prediction)
        ]
        model = {"model_version": f"recallseg, step {self.predictor.step}", "result": results}
        address = LOCAL_FILES + quote(path.as_posix().lstrip("/"))
        self.value.append({"data": {"image": address}, "predictions": [model]})


def packed_runs(hits: Hits) -> list[int]:
    """A mask (H, W) as Label Studio packs an RGBA image, 255 where it is hit: bytes of bits.

    First come the number of values (32 bits), their width less one (5), and four widths of run
    lengths less one (4 each). Then come the runs: a 1 for a run, which of the widths its length has
    (2), its length less one, and its value (8). All runs here have the widest length.
    """
    flat = np.repeat(hits.ravel(), CHANNELS)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    lengths = np.diff(np.concatenate([starts, [flat.size]]))
    repeats = -(-lengths // LONGEST)
    pieces = np.repeat(lengths, repeats)
    last = repeats.cumsum() - 1
    pieces[:] = np.minimum(pieces, LONGEST)
    pieces[last] = lengths - (repeats - 1) * LONGEST
    values = np.repeat(np.where(flat[starts], 255, 0), repeats)
    header = [_bits(np.array([flat.size]), 32), _bits(np.array([7]), 5)]
    header += [_bits(np.array([width - 1]), 4) for width in (3, 4, 8, 16)]
    items = [_bits(np.full(len(pieces), 0b111), 3), _bits(pieces - 1, 16), _bits(values, 8)]
    bits = np.concatenate([*(part.ravel() for part in header), np.hstack(items).ravel()])
    packed: list[int] = np.packbits(bits).tolist()
    return packed


def _bits(numbers: "np.ndarray[Any, np.dtype[Any]]", width: int) -> "np.ndarray[Any, Any]":
    """The bits of numbers, (N, width), the highest first."""
    return (numbers[:, None].astype(np.int64) >> np.arange(width - 1, -1, -1) & 1).astype(np.uint8)
