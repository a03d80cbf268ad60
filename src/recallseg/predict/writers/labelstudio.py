"""Predictions for Label Studio: tasks with brush masks, which hold holes exactly.

They are for Label Studio's own template for masks, whose tags are called `image` and `tag`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from PIL import Image

from recallseg.data.brush import packed_runs
from recallseg.predict.prediction import Prediction
from recallseg.predict.writers.base import FreeNames, Writer, classes_seen
from recallseg.predict.writers.outlines import TOLERANCE

if TYPE_CHECKING:
    from recallseg.predict.predictor import Predictor

LOCAL_FILES = "/data/local-files/?d="
"""The address at which Label Studio serves files below its folder for local files."""


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
