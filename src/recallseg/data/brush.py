"""Label Studio's brush masks: RGBA images as runs of bits, in both directions.

First come the number of values (32 bits), their width less one (5), and four widths of lengths,
less one each (4). Then come the items: 1 for a run or 0 for single values, which of the widths its
length has (2), its length less one, and the value of the run or all single values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from recallseg.data.rle import Hits

CHANNELS = 4
LONGEST = 1 << 16
"""The longest run of one item: its length less one has 16 bits."""
WIDTHS = (3, 4, 8, 16)


def packed_runs(hits: Hits) -> list[int]:
    """A mask (H, W) as the bytes of its bits, 255 where it is hit; all items are long runs."""
    flat = np.repeat(hits.ravel(), CHANNELS)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    lengths = np.diff(np.concatenate([starts, [flat.size]]))
    repeats = -(-lengths // LONGEST)
    pieces = np.repeat(lengths, repeats)
    last = repeats.cumsum() - 1
    pieces[:] = np.minimum(pieces, LONGEST)
    pieces[last] = lengths - (repeats - 1) * LONGEST
    values = np.repeat(np.where(flat[starts], 255, 0), repeats)
    header = [_bits(np.array([flat.size]), 32), _bits(np.array([7]), 5)]
    header += [_bits(np.array([width - 1]), 4) for width in WIDTHS]
    items = [_bits(np.full(len(pieces), 0b111), 3), _bits(pieces - 1, 16), _bits(values, 8)]
    bits = np.concatenate([*(part.ravel() for part in header), np.hstack(items).ravel()])
    packed: list[int] = np.packbits(bits).tolist()
    return packed


def unpacked_runs(data: Sequence[int], height: int, width: int) -> Hits:
    """The mask (H, W) of packed runs: where the last channel, which is opacity, is above 0.

    Bytes that stand for another number of pixels, or that end too early, are refused.
    """
    bits = _Bits(bytes(data))
    count, word = bits.take(32), bits.take(5) + 1
    widths = [bits.take(4) + 1 for _ in WIDTHS]
    if count != height * width * CHANNELS:
        raise ValueError(f"{count} packed values do not make {width}×{height} px of RGBA")
    values = np.zeros(count, dtype=bool)
    place = 0
    while place < count:
        is_run = bits.take(1)
        end = place + 1 + bits.take(widths[bits.take(2)])
        if end > count:
            raise ValueError("a run is longer than what is left of the mask")
        singles = 1 if is_run else end - place
        values[place:end] = [bits.take(word) > 0 for _ in range(singles)]
        place = end
    return values.reshape(height, width, CHANNELS)[..., -1]


class _Bits:
    """Numbers of any width, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.text = "".join(f"{byte:08b}" for byte in data)
        self.place = 0

    def take(self, width: int) -> int:
        """The next number."""
        self.place += width
        if self.place > len(self.text):
            raise ValueError("the packed values end too early")
        return int(self.text[self.place - width : self.place], 2)


def _bits(numbers: "np.ndarray[Any, np.dtype[Any]]", width: int) -> "np.ndarray[Any, Any]":
    """The bits of numbers, (N, width), the highest first."""
    return (numbers[:, None].astype(np.int64) >> np.arange(width - 1, -1, -1) & 1).astype(np.uint8)
