"""Scores derived from a confusion matrix: NumPy only, so that reports need no torch."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Confusion = npt.NDArray[np.int64]
"""(C, C) pixel counts: rows are the true classes, columns the predicted ones."""

Values = npt.NDArray[np.float64]

CONVENTIONS = ("old", "new", "all", "foreground", "old_with_background")


def iou(confusion: Confusion) -> Values:
    """Intersection over union of every class; NaN for one in neither truth nor prediction.

    The background, class 0, is NaN wherever the truth has none of it: it was not looked for there.
    """
    hit = np.diagonal(confusion).astype(np.float64)
    union = confusion.sum(axis=0) + confusion.sum(axis=1) - hit
    if not confusion[0].any():
        union[0] = 0
    return _divide(hit, union)


def pixel_accuracy(confusion: Confusion) -> Values:
    """The share of each class's pixels predicted right; NaN for a class not in the truth."""
    return _divide(np.diagonal(confusion).astype(np.float64), confusion.sum(axis=1))


def mean_iou(values: Values, old: Sequence[int], new: Sequence[int]) -> dict[str, float]:
    """The mean of per-class IoUs in every convention in use; background is class 0.

    `old` are the classes of step 0 and `new` those of all later steps, as in the paper's Table 1.
    `all` counts the background, `foreground` does not, and `old_with_background` is how some rows
    of that table count their old classes. A NaN class is left out; a mean over nothing is NaN.
    """
    groups = {
        "old": [*old],
        "new": [*new],
        "all": [0, *old, *new],
        "foreground": [*old, *new],
        "old_with_background": [0, *old],
    }
    return {name: mean_without_nan(values[members]) for name, members in groups.items()}


def mean_without_nan(values: Values) -> float:
    """The mean without NaNs, and NaN where nothing is left."""
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if numbers.size else float("nan")


def _divide(part: Values, whole: npt.NDArray[np.int64] | Values) -> Values:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
