"""Predictions as files: palette PNGs, overlays and COCO's run lengths."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from recallseg.data.palette import palette_image
from recallseg.data.rle import rle_string, run_lengths
from recallseg.files import atomic_path
from recallseg.predict.overlay import overlay
from recallseg.predict.prediction import Prediction

CLASSES_KEY = "recallseg:classes"
"""The text chunk of a PNG that holds the class names, a JSON list in the order of the ids."""


def save_png(path: Path, prediction: Prediction) -> None:
    """Write a mask as a palette PNG in VOC's colours that knows its class names."""
    text = PngInfo()
    text.add_itxt(CLASSES_KEY, json.dumps(prediction.class_names, ensure_ascii=False))
    with atomic_path(path) as temporary:
        palette_image(prediction.mask).save(temporary, pnginfo=text)


def save_overlay(path: Path, photo: Image.Image, prediction: Prediction) -> None:
    """Write the photo with its classes laid over it; the background stays as it is."""
    with atomic_path(path) as temporary:
        overlay(photo, prediction.mask, prediction.class_names).save(temporary, quality=92)


def coco_annotations(prediction: Prediction) -> Iterator[dict[str, Any]]:
    """COCO's annotations of a photo, one for each class seen but the background.

    The model's channels are the ids of COCO's categories.
    """
    height, width = prediction.mask.shape
    for score in prediction.scores:
        if score.channel == 0:
            continue
        hits = prediction.mask == score.channel
        rows, columns = np.flatnonzero(hits.any(axis=1)), np.flatnonzero(hits.any(axis=0))
        left, top = int(columns[0]), int(rows[0])
        yield {
            "category_id": score.channel,
            "segmentation": {"size": [height, width], "counts": rle_string(run_lengths(hits))},
            "area": int(hits.sum()),
            "bbox": [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1],
            "iscrowd": 1,
            "score": round(score.confidence, 4),
        }
