"""Streams of batches: shuffled, or RECALL's, new samples interleaved with replayed ones (sec. 4).

What is drawn at each iteration is a function of the seed alone. Nothing here has state that grows
with training, so a resumed run asks for batch i and gets what an uninterrupted one got.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from recallseg.engine.samples.relabelling import drawn_from
from recallseg.engine.samples.sets import Pick, Samples, joined
from recallseg.methods import Batch


class Stream(ABC):
    """Batches by number. Processes share a batch: each takes every `world`-th of its samples, so
    that all of them together see what one alone would."""

    size: int

    def batch(self, number: int, rank: int = 0, world: int = 1) -> Batch:
        """One process's share of batch `number`."""
        return self.part(number, range(rank, self.size, world))

    @abstractmethod
    def part(self, number: int, places: Sequence[int]) -> Batch:
        """The samples at some places of batch `number`."""


@dataclass(frozen=True)
class Shuffled(Stream):
    """Every photo once, in a new order each time around."""

    samples: Samples
    size: int
    seed: str

    def picks(self, number: int) -> list[Pick]:
        """The photos of a batch."""
        positions = range(number * self.size, (number + 1) * self.size)
        return [shuffled_pick(len(self.samples), self.seed, position) for position in positions]

    def part(self, number: int, places: Sequence[int]) -> Batch:
        """The samples at some places of batch `number`."""
        picks = self.picks(number)
        return self.samples.batch([picks[place] for place in places])


def shuffled_pick(length: int, seed: str, position: int) -> Pick:
    """What comes at `position` when `length` photos are dealt round by round."""
    visit, within = divmod(position, length)
    return Pick(shuffled(length, seed, visit)[within], visit)


@lru_cache(maxsize=256)
def shuffled(length: int, seed: str, visit: int) -> list[int]:
    """The order of `length` things in round `visit`."""
    order = list(range(length))
    Random(f"{seed}/round/{visit}").shuffle(order)
    return order


@dataclass(frozen=True)
class EvenlyFrom(Stream):
    """Batches that draw from several sets of samples, such as one per class, equally often."""

    members: Sequence[Samples]
    size: int
    seed: str

    def picks(self, number: int) -> list[tuple[int, Pick]]:
        """Which photo of which set; every set comes once before any comes again."""
        picks = []
        for position in range(number * self.size, (number + 1) * self.size):
            turn, within = divmod(position, len(self.members))
            member = shuffled(len(self.members), self.seed, turn)[within]
            length = len(self.members[member])
            picks.append((member, shuffled_pick(length, f"{self.seed}/{member}", turn)))
        return picks

    def part(self, number: int, places: Sequence[int]) -> Batch:
        """The samples at some places of batch `number`."""
        picks = self.picks(number)
        chosen = [picks[place] for place in places]
        members = [self.members[member] for member, _ in chosen]
        return drawn_from(members, [pick for _, pick in chosen])


@dataclass(frozen=True)
class Interleaved(Stream):
    """Every batch holds r_new samples of the step and r_old replayed ones, the new ones first."""

    new: Stream
    old: Stream

    @property
    def size(self) -> int:  # type: ignore[override]
        """How many samples a batch has of both."""
        return self.new.size + self.old.size

    def part(self, number: int, places: Sequence[int]) -> Batch:
        """The samples at some places of batch `number`."""
        new = [place for place in places if place < self.new.size]
        old = [place - self.new.size for place in places if place >= self.new.size]
        parts = ((self.new, new), (self.old, old))
        return joined([stream.part(number, some) for stream, some in parts if some])


def shares(batch: int, ratio: float) -> tuple[int, int]:
    """r_new and r_old of a batch, at least one of each, for r_old / r_new = `ratio`."""
    new = min(batch - 1, max(1, round(batch / (1 + ratio))))
    return new, batch - new
