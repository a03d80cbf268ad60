"""Training a generator of one's own, with the classifier that maps classes to its classes."""

from recallseg.engine.gan.runner import train_generator
from recallseg.engine.gan.settings import GanSettings

__all__ = ["GanSettings", "train_generator"]
