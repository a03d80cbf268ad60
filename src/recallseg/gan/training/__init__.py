"""Training an own generator, and the classifier that maps our classes to its classes."""

from recallseg.gan.training.runner import train_generator
from recallseg.gan.training.settings import GanSettings

__all__ = ["GanSettings", "train_generator"]
