"""Using a learned model: photos in, predictions out."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch

from recallseg.model import Segmenter
from recallseg.predict.opening import open_model
from recallseg.predict.photos import Photo
from recallseg.predict.prediction import Prediction
from recallseg.predict.step_models import MARGIN, TILE, StepModels
from recallseg.runs.folder import RunFolder


class Predictor:
    """The model of a run folder after one step; `StepModels` says how it looks at photos."""

    def __init__(
        self,
        model: Segmenter,
        class_names: Sequence[str],
        *,
        step: int = 0,
        tile: int = TILE,
        margin: int = MARGIN,
        longer_side: int | None = None,
        working_side: int | None = None,
        placements: int = 1,
        device: str | torch.device | None = None,
    ) -> None:
        self.models = StepModels(
            {step: model},
            {step: class_names},
            tile=tile,
            margin=margin,
            longer_side=longer_side,
            working_side=working_side,
            placements=placements,
            device=device,
        )
        self.step, self.class_names = step, tuple(class_names)
        self.model = self.models.by_step[step]

    @classmethod
    def open(
        cls,
        path: Path | str,
        step: int | None = None,
        *,
        longer_side: int | None = None,
        native: bool = False,
        placements: int = 1,
        device: str | torch.device | None = None,
    ) -> "Predictor":
        """The model of a run folder after a step, by default its last complete one.

        It looks at photos at the size at which it learned; with `native` at their own, in tiles.
        `placements` above 1 take so many times as long, and masks change less as photos move.
        """
        folder = RunFolder.existing(Path(path))
        model, index = open_model(folder, step)
        return cls(
            model,
            folder.class_names(index),
            step=index,
            longer_side=longer_side,
            working_side=None if native else folder.config.views.longer_side,
            placements=placements,
            device=device,
        )

    def predict(self, photo: Photo) -> Prediction:
        """The segmentation of a photo, at the photo's size."""
        return next(self.predict_many([photo]))

    def predict_many(self, photos: Iterable[Photo]) -> Iterator[Prediction]:
        """The segmentations of many photos, in their order; those of one size share batches."""
        for seen in self.models.look(photos):
            yield seen[self.step]
