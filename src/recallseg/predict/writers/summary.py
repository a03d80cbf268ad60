"""Predictions as numbers: the classes of all photos with their shares, without masks."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from recallseg.predict.prediction import Prediction
from recallseg.predict.writers.base import FreeNames, Writer
from recallseg.predict.writers.outlines import TOLERANCE

if TYPE_CHECKING:
    from recallseg.predict.predictor import Predictor


class SummaryWriter(Writer):
    """One value with a list of photos."""

    title = "one file with the classes of each photo and their shares"
    value: dict[str, Any]

    def __init__(
        self, predictor: "Predictor", names: FreeNames, tolerance: float = TOLERANCE
    ) -> None:
        super().__init__(predictor, names, tolerance)
        about = {"step": predictor.step, "class_names": list(predictor.class_names)}
        self.value = about | {"photos": []}

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Remember the photo's scores."""
        self.value["photos"].append({"file": str(path), **prediction.summary()})
