"""A guide for the generator: it estimates the noise that an image could have been made from.

Against a discriminator alone a small generator needs many hours to find shapes. With the guide it
is also trained to reproduce real images, like the decoder of a variational autoencoder (Kingma &
Welling, ICLR 2014; with a discriminator: Larsen et al., ICML 2016), and finds them in minutes.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

THUMBNAIL = 16
WIDTH = 256
SPREADS = (-8.0, 2.0)
"""Lower and upper bound of log variances."""


class Guide(nn.Module):
    """From a thumbnail of an image, and its class, to the mean and log variance of its noise."""

    def __init__(self, noise: int, num_classes: int) -> None:
        super().__init__()
        self.thumbnail = nn.Linear(3 * THUMBNAIL**2, WIDTH)
        self.classes = nn.Embedding(num_classes, WIDTH)
        nn.init.zeros_(self.classes.weight)
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.noise = nn.Linear(WIDTH, 2 * noise)

    def forward(self, images: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log variance (B,D) for images (B,3,H,W) in [-1,1] of class ids (B,)."""
        small = F.adaptive_avg_pool2d(images, THUMBNAIL).flatten(1)
        inner = F.leaky_relu(self.thumbnail(small) + self.classes(classes), 0.2)
        mean, spread = self.noise(F.leaky_relu(self.inner(inner), 0.2)).chunk(2, dim=1)
        return mean, spread.clamp(*SPREADS)


def drawn_from(mean: Tensor, spread: Tensor, normal: Tensor) -> Tensor:
    """Noise (B,D) of that mean and log variance, from standard normal numbers (B,D)."""
    return torch.addcmul(mean, torch.exp(spread / 2), normal)
