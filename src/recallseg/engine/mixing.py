"""RECALL's stream: new samples, interleaved with replayed ones (paper, sec. 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from recallseg.engine.samples import Pick, Samples, Stream, shuffled, shuffled_pick
from recallseg.errors import RecallsegError
from recallseg.methods import Batch


@dataclass(frozen=True)
class EvenlyFrom:
    """Batches that take from several sets of samples equally often: one a class, in the end."""

    members: Sequence[Samples]
    size: int
    seed: str

    def picks(self, number: int) -> list[tuple[int, Pick]]:
        """Which photo of which set; every set comes once before any comes again."""
        chosen = []
        for place in range(number * self.size, (number + 1) * self.size):
            turn, within = divmod(place, len(self.members))
            member = shuffled(len(self.members), self.seed, turn)[within]
            length = len(self.members[member])
            chosen.append((member, shuffled_pick(length, f"{self.seed}/{member}", turn)))
        return chosen

    def batch(self, number: int, rank: int = 0, world: int = 1) -> Batch:
        """One process's share of batch `number`."""
        mine = self.picks(number)[rank::world]
        return joined([self.members[member].batch([pick]) for member, pick in mine])


@dataclass(frozen=True)
class Interleaved:
    """Every batch holds r_new samples of the step and r_old replayed ones."""

    new: Stream
    old: Stream

    def batch(self, number: int, rank: int = 0, world: int = 1) -> Batch:
        """One process's share of batch `number`, the new samples first."""
        return joined([part.batch(number, rank, world) for part in (self.new, self.old)])


def shares(batch: int, ratio: float) -> tuple[int, int]:
    """r_new and r_old of a batch, at least one of each, for r_old / r_new = `ratio`."""
    new = min(batch - 1, max(1, round(batch / (1 + ratio))))
    return new, batch - new


def joined(batches: Sequence[Batch]) -> Batch:
    """Several batches as one; all come as photos, or all as features."""
    photos = [each.photos for each in batches if each.photos is not None]
    features = [each.features for each in batches if each.features is not None]
    if photos and features:
        raise RecallsegError(
            "Only some of the photos fit into the feature bank; raise bank.budget_gb, or set "
            "bank.enabled=false."
        )
    return Batch(
        torch.cat([each.labels for each in batches]),
        photos=torch.cat(photos) if photos else None,
        features=torch.cat(features) if features else None,
        label_stride=batches[0].label_stride,
    )
