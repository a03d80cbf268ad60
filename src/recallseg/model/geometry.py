"""Where features lie in a photo: cell (i, j) is at the pixel (stride·i, stride·j).

This is DeepLab's own convention. It holds for photos whose sides are k·stride+1 pixels, because
only there do the first and the last cell lie on the first and the last pixel, however a network
pads. So every photo is padded to such a size on its right and below, and what was added is cut off
again. Nothing else turns features into pixels.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

GEOMETRY = "cells at multiples of the stride"
"""Part of the key of everything that is computed from features."""


def pad_to_cells(images: Tensor, stride: int) -> Tensor:
    """Images (B,3,H,W), zero-padded on the right and below until both sides are k·stride+1."""
    below, right = ((1 - length) % stride for length in images.shape[-2:])
    return F.pad(images, (0, right, 0, below))


def to_pixels(maps: Tensor, stride: int, size: tuple[int, int], every: int = 1) -> Tensor:
    """Maps (B,C,h,w) of a stride, bilinearly at the pixels 0, every, 2·every …, as (B,C,*size).

    `size` counts those pixels in each direction and leaves the padding out. `every` divides the
    extent of the maps, (h-1)·stride.
    """
    whole = [(length - 1) * stride // every + 1 for length in maps.shape[-2:]]
    return to_finer(maps, (whole[0], whole[1]))[..., : size[0], : size[1]]


def to_finer(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Maps (B,C,h,w) at a finer grid over the same pixels: corners lie on corners."""
    return F.interpolate(maps, size=size, mode="bilinear", align_corners=True)


def is_centred(maps: list[Tensor], mirrored: list[Tensor]) -> bool:
    """Whether each map of a mirrored image is the mirror of the map of the image.

    A network whose kernels are symmetric answers so only if its cells lie symmetrically in the
    image, which for sides of k·stride+1 pixels and k+1 cells means at the multiples of the stride.
    """
    return all(
        torch.allclose(one, other.flip(2, 3), rtol=0, atol=1e-3 * float(one.abs().max()))
        for one, other in zip(maps, mirrored, strict=True)
    )
