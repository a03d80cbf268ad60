"""Differentiable augmentation (Zhao et al., NeurIPS 2020): colour, translation and cutout.

The discriminator sees real and generated images through it, so that it cannot memorise few photos,
and the generator's gradient passes through it.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

BRIGHTNESS = 0.5
SATURATION = (0.0, 2.0)
CONTRAST = (0.5, 1.5)
SHIFT = 1 / 8
"""The longest translation, as a share of the side."""
HOLE = 1 / 2
"""The side of the square that cutout blanks, as a share of the image's."""


def augment(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Images (B,3,H,W) in [-1,1] under random changes, different for each image; grey is zero."""
    draws = torch.from_numpy(rng.random((7, len(images)))).float().to(images.device)
    return cut_out(translate(recolour(images, draws[:3]), draws[3:5]), draws[5:])


def recolour(images: Tensor, draws: Tensor) -> Tensor:
    """Shift the brightness, then stretch saturation and contrast; draws (3,B) are in [0,1)."""
    brightness, saturation, contrast = draws[..., None, None, None]
    images = images + BRIGHTNESS * (2 * brightness - 1)
    grey = images.mean(1, keepdim=True)
    images = grey + (images - grey) * _between(SATURATION, saturation)
    mean = images.mean((1, 2, 3), keepdim=True)
    return mean + (images - mean) * _between(CONTRAST, contrast)


def translate(images: Tensor, draws: Tensor) -> Tensor:
    """Move each image by up to `SHIFT` of its side; draws (2,B) are in [0,1)."""
    height, width = images.shape[-2:]
    reach = round(SHIFT * height), round(SHIFT * width)
    padded = F.pad(images, (reach[1], reach[1], reach[0], reach[0]))
    first = [_whole(draw, 2 * limit + 1) for draw, limit in zip(draws, reach, strict=True)]
    rows = first[0][:, None] + torch.arange(height, device=images.device)
    columns = first[1][:, None] + torch.arange(width, device=images.device)
    batch = torch.arange(len(images), device=images.device)[:, None, None]
    moved = padded.permute(0, 2, 3, 1)[batch, rows[:, :, None], columns[:, None, :]]
    return moved.permute(0, 3, 1, 2)


def cut_out(images: Tensor, draws: Tensor) -> Tensor:
    """Blank a square of `HOLE` of the side, which may reach over the edge; draws (2,B)."""
    height, width = images.shape[-2:]
    inside = []
    for draw, side in zip(draws, (height, width), strict=True):
        pixels = torch.arange(side, device=images.device)
        distance = pixels - _whole(draw, side + 1)[:, None]
        half = round(HOLE * side / 2)
        inside.append((distance >= -half) & (distance < half))
    hole = inside[0][:, :, None] & inside[1][:, None, :]
    return images.masked_fill(hole[:, None], 0.0)


def _between(ends: tuple[float, float], draws: Tensor) -> Tensor:
    return ends[0] + (ends[1] - ends[0]) * draws


def _whole(draws: Tensor, count: int) -> Tensor:
    """Draws (B,) in [0,1) as whole numbers below `count`."""
    return (draws * count).long().clamp(max=count - 1)
