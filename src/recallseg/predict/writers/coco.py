"""Predictions as one COCO dataset: run lengths, which are exact, or polygons, which people edit."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from recallseg.data.rle import Hits, rle_string, run_lengths
from recallseg.predict.prediction import Prediction
from recallseg.predict.writers.base import FreeNames, Writer, classes_seen
from recallseg.predict.writers.outlines import TOLERANCE, Part, flat, parts_of

if TYPE_CHECKING:
    from recallseg.predict.predictor import Predictor


class CocoWriter(Writer):
    """Run lengths: one annotation for each class of a photo, holes and all."""

    title = "one COCO file with run lengths"
    value: dict[str, Any]

    def __init__(
        self, predictor: "Predictor", names: FreeNames, tolerance: float = TOLERANCE
    ) -> None:
        super().__init__(predictor, names, tolerance)
        channels = enumerate(predictor.class_names)
        categories = [{"id": channel, "name": name} for channel, name in channels if channel > 0]
        self.value = {"images": [], "annotations": [], "categories": categories}

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Remember the photo's annotations."""
        images, annotations = self.value["images"], self.value["annotations"]
        size = {"width": photo.width, "height": photo.height}
        images.append({"id": len(images) + 1, "file_name": str(path), **size})
        for annotation in self.annotations(prediction):
            ids = {"id": len(annotations) + 1, "image_id": len(images)}
            annotations.append(ids | annotation)

    def annotations(self, prediction: Prediction) -> Iterator[dict[str, Any]]:
        """The annotations of a photo, without their ids."""
        return coco_annotations(prediction)


class CocoPolygonWriter(CocoWriter):
    """Polygons: one annotation for each connected part of a class.

    COCO's polygons have no holes, so an outline goes to each hole and back.
    """

    title = "one COCO file with polygons"

    def annotations(self, prediction: Prediction) -> Iterator[dict[str, Any]]:
        """The annotations of a photo, without their ids."""
        for score, hits in classes_seen(prediction):
            for part in parts_of(hits, self.tolerance):
                left, top = part.around.min(axis=0).tolist()
                right, bottom = part.around.max(axis=0).tolist()
                yield {
                    "category_id": score.channel,
                    "segmentation": [flat(part.joined())],
                    "area": round(_area(part), 2),
                    "bbox": [left, top, right - left, bottom - top],
                    "iscrowd": 0,
                    "score": round(score.confidence, 4),
                }


def coco_annotations(prediction: Prediction) -> Iterator[dict[str, Any]]:
    """COCO's annotations of a photo, one for each class seen but the background.

    The model's channels are the ids of COCO's categories.
    """
    for score, hits in classes_seen(prediction):
        rows, columns = np.flatnonzero(hits.any(axis=1)), np.flatnonzero(hits.any(axis=0))
        left, top = int(columns[0]), int(rows[0])
        yield {
            "category_id": score.channel,
            "segmentation": {"size": list(hits.shape), "counts": _counts(hits)},
            "area": int(hits.sum()),
            "bbox": [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1],
            "iscrowd": 1,
            "score": round(score.confidence, 4),
        }


def _counts(hits: Hits) -> str:
    return rle_string(run_lengths(hits))


def _area(part: Part) -> float:
    x, y = part.joined().T
    return abs(float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))) / 2
