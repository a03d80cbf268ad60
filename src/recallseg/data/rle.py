"""COCO's run lengths of masks, in both directions, and the string that it makes of them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Hits = npt.NDArray[np.bool_]


def run_lengths(hits: Hits) -> list[int]:
    """COCO's counts of a mask (H, W): lengths of runs down the columns, beginning with misses."""
    flat = np.concatenate([[False], hits.ravel(order="F")])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    lengths: list[int] = np.diff(np.concatenate([[0], ends, [hits.size]])).tolist()
    return lengths


def hits_of(counts: Sequence[int], height: int, width: int) -> Hits:
    """The mask (H, W) of counts that add up to its size: what `run_lengths` was made of."""
    odd = np.arange(len(counts)) % 2 == 1
    return np.repeat(odd, counts).reshape(width, height).T


def rle_string(counts: Sequence[int]) -> str:
    """COCO's compressed counts: differences to the run before last, five bits a character."""
    characters = []
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        more = True
        while more:
            bits, value = value & 31, value >> 5
            more = value != (-1 if bits & 16 else 0)
            characters.append(chr((bits | 32 if more else bits) + 48))
    return "".join(characters)


def counts_of(text: str) -> list[int]:
    """The counts that `rle_string` made a string of; characters it never writes are refused."""
    counts: list[int] = []
    value = shift = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64 or shift > 60:
            raise ValueError(f"'{character}' cannot stand in compressed run lengths")
        value |= (code & 31) << shift
        shift += 5
        if not code & 32:
            value -= (1 << shift) if code & 16 else 0
            counts.append(value + counts[-2] if len(counts) > 2 else value)
            value = shift = 0
    if shift:
        raise ValueError("the compressed run lengths end in the middle of a number")
    return counts
