"""Masks that stay the same when a photo moves: the mean of what is seen at several placements.

A network of stride 32 samples what it sees, so it sees something else in a photo that lies one
pixel further. The mean over placements that are spread evenly over the period changes less.
"""

from collections.abc import Callable
from math import gcd

import torch
import torch.nn.functional as F
from torch import Tensor

from recallseg.model import Segmenter

GOLDEN = 0.618034


def placements(count: int, period: int) -> list[tuple[int, int]]:
    """So many places, rows and columns below `period`, spread evenly in both directions.

    They are a lattice (i/n, i·a/n) whose step a is close to the golden section of n and has no
    divisor in common with it, so that no two lie in one row or column; the first is (0, 0).
    """
    nearest = sorted(range(1, count + 1), key=lambda step: abs(step - GOLDEN * count))
    step = next(step for step in nearest if gcd(step, count) == 1)
    return [
        (place * period // count, place * step % count * period // count) for place in range(count)
    ]


def averaged(
    look: Callable[[Tensor], Tensor], photos: Tensor, places: list[tuple[int, int]], colour: Tensor
) -> Tensor:
    """The logarithm of the mean probabilities (B, C, H, W) over placements of photos (B, 3, H, W).

    `look` gives logits of photos, each of which is moved right and down by a place; `colour` (3,),
    which the network takes for nothing, fills what is free then.
    """
    total: Tensor | None = None
    for rows, columns in places:
        moved = F.pad(photos, (columns, 0, rows, 0))
        moved[..., :rows, :] = colour[:, None, None]
        moved[..., :columns] = colour[:, None, None]
        seen = look(moved)[..., rows:, columns:].softmax(dim=1)
        total = seen if total is None else total + seen
    assert total is not None
    return (total / len(places)).log()


def steady(model: Segmenter, photos: Tensor, count: int) -> Tensor:
    """What a model says of photos (B, 3, H, W), as the mean over so many placements of them."""
    encoder = model.encoder
    photos = photos.to(encoder.mean.device)
    colour = torch.tensor(encoder.mean_colour, device=photos.device)
    places = placements(count, encoder.coarsest)
    return averaged(lambda moved: model(moved).logits, photos, places, colour)
