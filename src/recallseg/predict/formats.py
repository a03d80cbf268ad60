"""Predictions as images: palette PNGs and overlays."""

import json
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from recallseg.data.palette import palette_image
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
