"""From a confusion matrix to what `result.json` says of a step."""

from collections.abc import Sequence

from recallseg.engine.evaluation.measuring import Counts
from recallseg.metrics.scores import Confusion, Values, iou, mean_iou, pixel_accuracy
from recallseg.runs.records import ConfusionRecord, Means, StepRecord

LEAST_SHARE, MOST_CONFUSIONS = 3.0, 5
"""Confusions of fewer percent of a class are not told, nor more than that many."""


def score(
    step: int, new: Sequence[str], names: Sequence[str], initial: int, counts: Counts
) -> StepRecord:
    """The scores after a step, in percent as in the paper; None for what does not exist.

    `names` are the model's channels, background first; the first `initial` classes after it are
    those of step 0, which Table 1 calls old. `miou_boundary` counts only pixels near an edge of the
    truth; `pixels` is how many were counted in all. `iou_without_new` leaves out the pixels of the
    classes that the step added, as the step before did.
    """
    values, accuracy = iou(counts.everywhere), pixel_accuracy(counts.everywhere)
    channels = range(1, len(names))

    def means(values: Values) -> Means:
        found = mean_iou(values, channels[:initial], channels[initial:])
        return {name: percent(value) for name, value in found.items()}

    record: StepRecord = {
        "step": step,
        "classes": list(new),
        "miou": means(values),
        "miou_boundary": means(iou(counts.near_boundary)),
        "iou": dict(zip(names, map(percent, values.tolist()), strict=True)),
        "pixel_accuracy": dict(zip(names, map(percent, accuracy.tolist()), strict=True)),
        "pixels": int(counts.everywhere.sum()),
        "confusions": confusions(counts.everywhere, names),
    }
    if step > 0:
        added = [place for place, name in enumerate(names) if name in new]
        comparable = counts.everywhere.copy()
        comparable[added] = 0
        remaining = zip(names, map(percent, iou(comparable).tolist()), strict=True)
        record["iou_without_new"] = {name: value for name, value in remaining if name not in new}
    return record


def confusions(counts: Confusion, names: Sequence[str]) -> list[ConfusionRecord]:
    """The largest shares of a class's pixels that are taken for another class, the worst first."""
    found: list[ConfusionRecord] = []
    for true, row in enumerate(counts.tolist()):
        for seen, pixels in enumerate(row):
            share = 100 * pixels / max(1, sum(row))
            if seen != true and share >= LEAST_SHARE:
                found.append({"true": names[true], "seen": names[seen], "share": round(share, 1)})
    return sorted(found, key=lambda each: -each["share"])[:MOST_CONFUSIONS]


def percent(value: float) -> float | None:
    """A share as a percentage with four digits after the point, and NaN as None."""
    return None if value != value else round(100 * value, 4)
