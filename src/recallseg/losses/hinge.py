"""The hinge losses of a generative adversarial network (Lim & Ye, 2017; Miyato et al., 2018)."""

import torch
from torch.nn import functional


def hinge_discriminator(real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    """Mean max(0, 1 − real) plus mean max(0, 1 + fake), of scores of any shape."""
    return functional.relu(1 - real).mean() + functional.relu(1 + fake).mean()


def hinge_generator(fake: torch.Tensor) -> torch.Tensor:
    """Minus the mean score of generated images."""
    return -fake.mean()
