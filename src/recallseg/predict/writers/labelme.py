"""Predictions for LabelMe: a JSON file for each photo, beside a link to it."""

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from recallseg.data.rle import Hits
from recallseg.errors import RecallsegError
from recallseg.files import write_json
from recallseg.predict.prediction import Prediction
from recallseg.predict.writers.base import Writer, classes_seen, link_photo
from recallseg.predict.writers.outlines import Part, parts_of

VERSION = "5.8.1"
"""The version of LabelMe whose files these are; the mask shape came with 5.3."""


class LabelmeWriter(Writer):
    """A polygon for each connected part of a class; parts with holes are masks."""

    title = "a LabelMe file for each photo"

    def add(self, path: Path, photo: Image.Image, prediction: Prediction) -> None:
        """Write the photo's shapes."""
        target = self.names.take(path.stem, ".json")
        image = target.with_suffix(path.suffix.lower())
        if path.parent.resolve() == self.names.folder.resolve():
            image = path
            if target.exists():
                raise RecallsegError(
                    f"{target} exists beside its photo and may be made by hand; name another "
                    "folder with --out."
                )
        else:
            link_photo(path, image)
        shapes = [
            {
                "label": score.name,
                **(_mask(part, hits) if part.holes else _polygon(part)),
                "group_id": None,
                "description": "",
                "flags": {},
            }
            for score, hits in classes_seen(prediction)
            for part in parts_of(hits, self.tolerance)
        ]
        content: dict[str, Any] = {
            "version": VERSION,
            "flags": {},
            "shapes": shapes,
            "imagePath": image.name,
            "imageData": None,
            "imageHeight": photo.height,
            "imageWidth": photo.width,
        }
        write_json(target, content)


def _polygon(part: Part) -> dict[str, Any]:
    return {"shape_type": "polygon", "points": part.around.round(2).tolist(), "mask": None}


def _mask(part: Part, hits: Hits) -> dict[str, Any]:
    """What is seen inside of the part's box, as LabelMe has it: two corners and a PNG."""
    left, top = np.floor(part.around.min(axis=0)).astype(int).clip(0).tolist()
    right, bottom = np.ceil(part.around.max(axis=0)).astype(int).tolist()
    crop = hits[top:bottom, left:right]
    corners = [[left, top], [left + crop.shape[1] - 1, top + crop.shape[0] - 1]]
    buffer = BytesIO()
    Image.fromarray(crop.astype(np.uint8) * 255).save(buffer, "PNG")
    return {
        "shape_type": "mask",
        "points": [[float(value) for value in corner] for corner in corners],
        "mask": b64encode(buffer.getvalue()).decode(),
    }
