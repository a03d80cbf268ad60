"""Where features lie in a photo: a cell lies in the middle of the square of pixels it stands for.

Along each side, cell i of a stride lies at the pixel stride·i + (stride-1)/2, for the maps of all
stages alike. That is where networks look that were trained on photos of even sides and on their
mirror images, whatever way they pad: mirroring takes squares to squares. It holds for sides of
k·stride pixels, so every photo is padded to such a size on its right and below, and what was added
is cut off again. Nothing else turns features into pixels.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

GEOMETRY = "cells in the middle of their squares"
"""Part of the key of everything that is computed from features."""


def pad_to_cells(images: Tensor, stride: int) -> Tensor:
    """Images (B,3,H,W), zero-padded on the right and below until both sides are k·stride."""
    below, right = (-length % stride for length in images.shape[-2:])
    return F.pad(images, (0, right, 0, below))


def to_pixels(maps: Tensor, stride: int, size: tuple[int, int], every: int = 1) -> Tensor:
    """Maps (B,C,h,w) of a stride, bilinearly at pixels, as (B,C,*size); the padding is left out.

    With `every`, only at the pixels that `sparse` takes, `size` of them in each direction.
    """
    height, width = maps.shape[-2:]
    if every == 1:
        return to_finer(maps, (height * stride, width * stride))[..., : size[0], : size[1]]
    rows, columns = (
        _weights(count, cells, stride, every).to(maps)
        for count, cells in zip(size, (height, width), strict=True)
    )
    return rows @ maps @ columns.T


def to_finer(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Maps (B,C,h,w) at a finer grid over the same pixels."""
    return F.interpolate(maps, size=size, mode="bilinear", align_corners=False)


def side_by_side(maps: Sequence[Tensor]) -> Tensor:
    """Maps (B,C_i,h_i,w_i), the finest first, as one (B,ΣC_i,h,w) of its size."""
    size = (maps[0].shape[-2], maps[0].shape[-1])
    return torch.cat([maps[0], *(to_finer(each, size) for each in maps[1:])], dim=1)


def sparse(every: int) -> slice:
    """One pixel out of `every`, the one in their middle."""
    return slice(every // 2, None, every)


@lru_cache(maxsize=64)
def _weights(count: int, cells: int, stride: int, every: int) -> Tensor:
    """What each cell counts for at each of `count` sparse pixels, (count, cells); rows sum to 1."""
    pixels = torch.arange(count, dtype=torch.float64) * every + every // 2
    places = ((pixels + 0.5) / stride - 0.5).clamp(0, cells - 1)
    apart = (places[:, None] - torch.arange(cells)[None]).abs()
    return (1 - apart).clamp(min=0).float()


def to_own_pixels(
    maps: Tensor, stride: int, looked_at: tuple[int, int], size: tuple[int, int]
) -> Tensor:
    """Maps (B,C,h,w) of photos that were brought to `looked_at` before, bilinearly at the pixels
    that they had: (B,C,*size)."""
    wide = _between(maps, -1, _own_places(size[1], looked_at[1], stride, maps))
    return _between(wide, -2, _own_places(size[0], looked_at[0], stride, maps))


def own_rows(
    maps: Tensor,
    stride: int,
    looked_at: tuple[int, int],
    size: tuple[int, int],
    at_once: int,
) -> Iterator[tuple[slice, Tensor]]:
    """`to_own_pixels` by bands of rows that hold about `at_once` numbers, for large photos.

    A photo that was looked at as it is comes whole, by `to_pixels`.
    """
    if looked_at == size:
        yield slice(0, size[0]), to_pixels(maps, stride, size)
        return
    wide = _between(maps, -1, _own_places(size[1], looked_at[1], stride, maps))
    places = _own_places(size[0], looked_at[0], stride, maps)
    each = max(1, at_once // (maps.shape[-3] * size[1]))
    for start in range(0, size[0], each):
        rows = slice(start, start + each)
        yield rows, _between(wide, -2, places[rows])


def _own_places(count: int, looked_at: int, stride: int, maps: Tensor) -> Tensor:
    """Where `count` pixels lie among the cells of a side that was `looked_at` long for them."""
    pixels = torch.arange(count, device=maps.device, dtype=torch.float32)
    return (pixels + 0.5) * (looked_at / (count * stride)) - 0.5


def _between(maps: Tensor, dim: int, places: Tensor) -> Tensor:
    """Maps at places between their cells along one side; beyond the last cell it goes on."""
    last = maps.shape[dim] - 1
    places = places.clamp(0, last)
    before = places.floor().long()
    after = (before + 1).clamp(max=last)
    share = (places - before).to(maps.dtype)
    if dim == -2:
        share = share[:, None]
    return torch.lerp(maps.index_select(dim, before), maps.index_select(dim, after), share)
