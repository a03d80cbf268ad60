"""Which replay images are worth keeping, by their pseudo-labels.

A filter is a function here and a field of `replay.filters`, both of the same name.
"""

from recallseg.config import LabelFilters
from recallseg.replay.labelling import PseudoLabel


def present(label: PseudoLabel, wanted: bool) -> str | None:
    """The class must be seen at all."""
    return "class not seen" if wanted and label.area == 0 else None


def min_area(label: PseudoLabel, least: float) -> str | None:
    """The class must cover some of the image."""
    return "class too small" if label.area < least else None


def max_area(label: PseudoLabel, most: float) -> str | None:
    """The class must leave some of the image."""
    return "class too large" if label.area > most else None


def min_confidence(label: PseudoLabel, least: float) -> str | None:
    """The helper decoder must be sure of the class where it sees it."""
    return "not sure enough" if label.confidence < least else None


FILTERS = {rule.__name__: rule for rule in (present, min_area, max_area, min_confidence)}


def reason_to_reject(label: PseudoLabel, filters: LabelFilters) -> str | None:
    """Why an image is left out, in a few words, or None to keep it."""
    reasons = (FILTERS[name](label, value) for name, value in filters)
    return next((reason for reason in reasons if reason), None)
