"""Fine-tuning: the lower bound, which forgets."""

from recallseg.methods.base import Method


class FineTuning(Method):
    """Trains on each step's photos as they come, with old classes labelled background."""

    title = "FT"
