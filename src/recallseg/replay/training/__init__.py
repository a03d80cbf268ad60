"""What it takes to train a generator of one's own: an adversary, and a generator that can learn."""

from recallseg.replay.training.augment import augment
from recallseg.replay.training.discriminators import DISCRIMINATORS, build_discriminator
from recallseg.replay.training.generator import finished, trainable_generator
from recallseg.replay.training.guide import Guide
from recallseg.replay.training.images import ClassFolder
from recallseg.replay.training.judging import Discriminator
from recallseg.replay.training.statistics import standing_statistics

__all__ = [
    "DISCRIMINATORS",
    "ClassFolder",
    "Discriminator",
    "Guide",
    "augment",
    "build_discriminator",
    "finished",
    "standing_statistics",
    "trainable_generator",
]
