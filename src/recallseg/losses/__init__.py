"""Losses are pure functions: tensors in, tensor out."""

from recallseg.losses.cross_entropy import cross_entropy
from recallseg.losses.hinge import hinge_discriminator, hinge_generator

__all__ = ["cross_entropy", "hinge_discriminator", "hinge_generator"]
