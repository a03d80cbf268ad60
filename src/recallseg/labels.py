"""The labels that are no class of a dataset, and how many are left for classes."""

from recallseg.errors import RecallsegError

BACKGROUND = 0
"""Whatever belongs to no class that is being learned; the first channel of every model."""
VOID = 255
"""Pixels that count neither in training nor in evaluation."""
PADDING = 254
"""Pixels beyond a photo's edge, in a training view; nothing is ever seen there."""
MOST_CLASSES = min(VOID, PADDING) - BACKGROUND - 1
"""Labels between the background and these two, in masks and in the channels of a model."""


def check_class_count(count: int, where: object) -> None:
    """Refuse more classes than there are labels; `count` is without the background."""
    if count > MOST_CLASSES:
        raise RecallsegError(
            f"{where} has {count} classes besides the background; at most {MOST_CLASSES} fit into "
            "masks of 8 bits, so leave some out or merge them."
        )
