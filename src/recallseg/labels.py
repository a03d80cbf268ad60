"""The labels that are no class of a dataset."""

BACKGROUND = 0
"""Whatever belongs to no class that is being learned; the first channel of every model."""
VOID = 255
"""Pixels that count neither in training nor in evaluation."""
PADDING = 254
"""Pixels beyond a photo's edge, in a training view; nothing is ever seen there."""
