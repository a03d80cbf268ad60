"""Random numbers that are the same on every machine: PCG64's raw output and exact arithmetic."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")


class Dice:
    """Random numbers that depend only on a key of whole numbers."""

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def between(self, low: float, high: float) -> float:
        """A number from `low` up to `high`."""
        return low + (high - low) * (int(self._bits.random_raw()) >> 11) * 2.0**-53

    def below(self, end: int) -> int:
        """A whole number from 0 to `end` - 1."""
        return (int(self._bits.random_raw()) >> 32) * end >> 32

    def chance(self, share: float) -> bool:
        """True with this probability."""
        return self.between(0, 1) < share

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[self.below(len(options))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """The options in random order."""
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def noise(self, height: int, width: int) -> npt.NDArray[np.uint8]:
        """Random bytes, (height, width)."""
        raw = np.asarray(self._bits.random_raw((height * width + 7) // 8)).astype("<u8")
        return raw.view(np.uint8)[: height * width].reshape(height, width)

    def weighted(self, weights: Mapping[T, int]) -> T:
        """One of the keys, with a probability in proportion to its weight."""
        return self.pick([key for key, weight in weights.items() for _ in range(weight)])
