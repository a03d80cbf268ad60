"""From a confusion matrix to what `result.json` says of a step."""

from collections.abc import Sequence
from typing import Any

from recallseg.metrics.scores import Confusion, iou, mean_iou, pixel_accuracy


def score(
    step: int, new: Sequence[str], names: Sequence[str], initial: int, counts: Confusion
) -> dict[str, Any]:
    """The scores after a step, in percent as in the paper; None for what does not exist.

    `names` are the model's channels, background first; the first `initial` classes after it are
    those of step 0, which Table 1 calls old. `pixels` is how many were counted.
    """
    values, accuracy = iou(counts), pixel_accuracy(counts)
    channels = range(1, len(names))
    means = mean_iou(values, channels[:initial], channels[initial:])
    return {
        "step": step,
        "classes": list(new),
        "miou": {name: percent(value) for name, value in means.items()},
        "iou": dict(zip(names, map(percent, values.tolist()), strict=True)),
        "pixel_accuracy": dict(zip(names, map(percent, accuracy.tolist()), strict=True)),
        "pixels": int(counts.sum()),
    }


def percent(value: float) -> float | None:
    """A share as a percentage with four digits after the point, and NaN as None."""
    return None if value != value else round(100 * value, 4)
