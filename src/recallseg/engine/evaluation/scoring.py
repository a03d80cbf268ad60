"""From a confusion matrix to what `result.json` says of a step."""

from collections.abc import Sequence

from recallseg.engine.evaluation.measuring import Counts
from recallseg.metrics.scores import Values, iou, mean_iou, pixel_accuracy
from recallseg.runs.records import Means, StepRecord


def score(
    step: int, new: Sequence[str], names: Sequence[str], initial: int, counts: Counts
) -> StepRecord:
    """The scores after a step, in percent as in the paper; None for what does not exist.

    `names` are the model's channels, background first; the first `initial` classes after it are
    those of step 0, which Table 1 calls old. `miou_boundary` counts only pixels near an edge of the
    truth; `pixels` is how many were counted in all.
    """
    values, accuracy = iou(counts.everywhere), pixel_accuracy(counts.everywhere)
    channels = range(1, len(names))

    def means(values: Values) -> Means:
        found = mean_iou(values, channels[:initial], channels[initial:])
        return {name: percent(value) for name, value in found.items()}

    return {
        "step": step,
        "classes": list(new),
        "miou": means(values),
        "miou_boundary": means(iou(counts.near_boundary)),
        "iou": dict(zip(names, map(percent, values.tolist()), strict=True)),
        "pixel_accuracy": dict(zip(names, map(percent, accuracy.tolist()), strict=True)),
        "pixels": int(counts.everywhere.sum()),
    }


def percent(value: float) -> float | None:
    """A share as a percentage with four digits after the point, and NaN as None."""
    return None if value != value else round(100 * value, 4)
