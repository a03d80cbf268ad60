"""Predictions as images: masks and overlays."""

from pathlib import Path

from PIL import Image

from recallseg.predict.formats import save_overlay, save_png
from recallseg.predict.prediction import Prediction
from recallseg.predict.writers.base import Writer


class PngWriter(Writer):
    """A palette PNG for each photo."""

    title = "a palette PNG for each photo"

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Write the mask."""
        save_png(self.names.take(path.stem, ".png"), prediction)


class OverlayWriter(Writer):
    """The photo with its classes laid over it, for each photo."""

    title = "the photo under its classes"

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Write the overlay."""
        save_overlay(self.names.take(f"{path.stem}-overlay", ".jpg"), photo, prediction)
