"""Losses are pure functions: tensors in, tensor out."""

from recallseg.losses.cross_entropy import (
    classwise_cross_entropy,
    cross_entropy,
    unbiased_cross_entropy,
)
from recallseg.losses.distillation import (
    agreeing_cross_entropy,
    classwise_distillation,
    entropy_weighted_distillation,
    feature_distillation,
    lwf_distillation,
    unbiased_distillation,
)
from recallseg.losses.hinge import hinge_discriminator, hinge_generator
from recallseg.losses.normal import normal_divergence

__all__ = [
    "agreeing_cross_entropy",
    "classwise_cross_entropy",
    "classwise_distillation",
    "cross_entropy",
    "entropy_weighted_distillation",
    "feature_distillation",
    "hinge_discriminator",
    "hinge_generator",
    "lwf_distillation",
    "normal_divergence",
    "unbiased_cross_entropy",
    "unbiased_distillation",
]
