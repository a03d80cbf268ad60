"""What a model knew after each step of its life, for one photo at a time."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from recallseg.data.transforms import photo_tensor
from recallseg.errors import RecallsegError
from recallseg.model import Encoder
from recallseg.predict.opening import open_steps
from recallseg.predict.prediction import Prediction, predictions_of
from recallseg.predict.predictor import default_device, shrunk
from recallseg.runs.folder import RunFolder


class Timeline:
    """All steps of a run folder; a photo is encoded once and decoded by each of them."""

    def __init__(self, path: Path, *, longer_side: int | None = None) -> None:
        folder = RunFolder.existing(path)
        self.path, self.longer_side, self.device = path, longer_side, default_device()
        self.models = {
            step: model.to(self.device).eval().requires_grad_(False)
            for step, model in open_steps(folder).items()
        }
        self.names = {step: tuple(folder.class_names(step)) for step in self.models}
        self.method = folder.config.method.name

    def steps(self) -> list[dict[str, Any]]:
        """The steps with what was new in each, as JSON values."""
        lived = list(self.models)
        known = [len(self.names[step]) for step in lived]
        return [
            {"step": step, "new": list(self.names[step][before:])}
            for step, before in zip(lived, [1, *known], strict=False)
        ]

    @torch.no_grad()
    def predict(
        self,
        photo: Image.Image,
        steps: Sequence[int] | None = None,
        still_wanted: Callable[[], None] = lambda: None,
    ) -> dict[int, Prediction]:
        """What the model sees in an RGB photo after each of some steps, all by default.

        Masks have the size that was looked at, which `longer_side` may have shrunk. Between two
        steps `still_wanted` is called, which may raise to end the work.
        """
        chosen = list(self.models) if steps is None else list(steps)
        if unknown := [step for step in chosen if step not in self.models]:
            raise RecallsegError(
                f"The model has no step {unknown[0]}; it has {', '.join(map(str, self.models))}."
            )
        pixels = photo_tensor(shrunk(photo, self.longer_side))[None].to(self.device)
        size = (pixels.shape[-2], pixels.shape[-1])
        encoded: tuple[Encoder, Tensor] | None = None
        found = {}
        for step in chosen:
            still_wanted()
            model = self.models[step]
            if encoded is None or encoded[0] is not model.encoder:
                encoded = model.encoder, model.encoder(pixels)
            logits = model(features=encoded[1], size=size).logits
            [found[step]] = predictions_of(logits, self.names[step])
        return found
