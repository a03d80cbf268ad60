"""Predictions as a YOLO segmentation dataset: `data.yaml`, `labels/` and links in `images/`."""

from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from recallseg.files import write_text
from recallseg.predict.prediction import Prediction
from recallseg.predict.writers.base import Writer, classes_seen, link_photo
from recallseg.predict.writers.outlines import parts_of


class YoloWriter(Writer):
    """A line for each connected part of a class: its number and the shares of its corners.

    An outline goes to each hole and back, as YOLO's own tools join the parts of an object.
    """

    title = "a YOLO dataset of outlines"

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Write the photo's labels."""
        labels = self.names.inside("labels").take(path.stem, ".txt")
        lines = []
        for score, hits in classes_seen(prediction):
            for part in parts_of(hits, self.tolerance):
                shares = (part.joined() / np.array(photo.size)).clip(0, 1).ravel()
                words = " ".join(f"{share:.6g}" for share in shares.tolist())
                lines.append(f"{score.channel - 1} {words}\n")
        image = self.names.folder / "images" / f"{labels.stem}{path.suffix.lower()}"
        link_photo(path, image)
        write_text(labels, "".join(lines))

    def finish(self) -> None:
        """Write `data.yaml`."""
        names = dict(enumerate(self.predictor.class_names[1:]))
        content = {"train": "images", "val": "images", "names": names}
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        write_text(self.names.folder / "data.yaml", text)
