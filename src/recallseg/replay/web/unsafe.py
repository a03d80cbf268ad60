"""An optional filter for unsafe pictures: a classifier of the user's own choice, as an ONNX file.

Sites are asked for safe pictures anyway, where they know the difference.
"""

import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from pydantic import Field

from recallseg.config.section import Section
from recallseg.errors import RecallsegError
from recallseg.replay.web.failures import BadPhoto

USUAL_SIDE = 224
"""Pixels of a side, where a classifier takes pictures of any size."""

Floats = npt.NDArray[np.float32]


class UnsafeSettings(Section):
    """Which classifier looks at downloaded photos, and which of its outputs mean harm."""

    classifier: Path | None = None
    """An ONNX file that takes one RGB picture, (1, 3, H, W) or (1, H, W, 3); None is no filter."""
    outputs: tuple[int, ...] = (1,)
    """The places of the unsafe classes among its outputs; a single output is their probability."""
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Photos with a higher probability of these classes together are left."""
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    """Pixels from 0 to 1 are normalised by these, as in the classifier's training."""


class UnsafeFilter:
    """The classifier, ready to look at photos."""

    def __init__(self, settings: UnsafeSettings) -> None:
        self.settings = settings
        self._session = _opened(settings.classifier)
        [taken, *more] = self._session.get_inputs()
        shape = taken.shape
        self._channels_last = len(shape) == 4 and shape[3] == 3
        if more or len(shape) != 4 or 3 not in (shape[1], shape[3]):
            raise RecallsegError(
                f"{settings.classifier} takes {[each.shape for each in (taken, *more)]}; a filter "
                "takes one RGB picture, (1, 3, H, W) or (1, H, W, 3)."
            )
        sides = shape[1:3] if self._channels_last else shape[2:4]
        self._size = tuple(side if isinstance(side, int) else USUAL_SIDE for side in sides)
        self._name = taken.name

    def check(self, jpeg: bytes) -> None:
        """Raise BadPhoto for a photo that is probably unsafe."""
        if self.probability(jpeg) > self.settings.threshold:
            raise BadPhoto("unsafe by the classifier")

    def probability(self, jpeg: bytes) -> float:
        """How probably a photo is of one of the unsafe classes."""
        height, width = self._size
        with Image.open(io.BytesIO(jpeg)) as photo:
            small = photo.convert("RGB").resize((width, height), Image.Resampling.BICUBIC)
        mean, std = (np.array(each, np.float32) for each in (self.settings.mean, self.settings.std))
        pixels = ((np.asarray(small) / 255 - mean) / std).astype(np.float32)
        batch = pixels[None] if self._channels_last else pixels.transpose(2, 0, 1)[None]
        outputs = np.asarray(self._session.run(None, {self._name: batch})[0]).ravel()
        probabilities = _probabilities(outputs)
        if len(probabilities) == 1:
            return float(probabilities[0])
        wanted = list(self.settings.outputs)
        if not wanted or max(wanted) >= len(probabilities):
            raise RecallsegError(
                f"{self.settings.classifier} has {len(probabilities)} outputs, counted from 0; "
                f"replay.web.unsafe.outputs names {wanted}."
            )
        return float(probabilities[wanted].sum())


def _probabilities(outputs: Floats) -> Floats:
    """Outputs as they are if they can be probabilities, or what logits stand for."""
    if len(outputs) == 1:
        is_one = 0 <= outputs[0] <= 1
        return outputs if is_one else np.asarray(1 / (1 + np.exp(-outputs)), np.float32)
    if outputs.min() >= 0 and abs(float(outputs.sum()) - 1) < 1e-3:
        return outputs
    powers = np.exp(outputs - outputs.max())
    return np.asarray(powers / powers.sum(), dtype=np.float32)


def _opened(path: Path | None) -> Any:  # noqa: ANN401
    try:
        import onnxruntime
    except ImportError as error:
        raise RecallsegError(
            "replay.web.unsafe.classifier needs onnxruntime: pip install onnxruntime."
        ) from error
    if path is None or not path.is_file():
        raise RecallsegError(f"The classifier {path} of replay.web.unsafe does not exist.")
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has many kinds of errors
        raise RecallsegError(f"{path} is not an ONNX model: {str(error)[:200]}.") from error
