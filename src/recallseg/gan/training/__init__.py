"""Training a generator of one's own, with the classifier that maps classes to its classes."""

from recallseg.gan.training.runner import train_generator
from recallseg.gan.training.settings import GanSettings

__all__ = ["GanSettings", "train_generator"]
