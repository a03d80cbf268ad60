"""RECALL's stream: inpainted new samples, interleaved with replayed ones (paper, sec. 4)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import torch

from recallseg.engine.samples import (
    BankSamples,
    Pick,
    Samples,
    Stream,
    shuffled,
    shuffled_pick,
)
from recallseg.errors import RecallsegError
from recallseg.methods import Batch
from recallseg.methods.base import logits_of
from recallseg.model import Segmenter
from recallseg.replay.inpainting import inpaint


class Inpainted:
    """T_k^bi: samples whose background is filled in by the previous model as they are drawn."""

    def __init__(self, samples: Samples, previous: Segmenter, confidence: float) -> None:
        self.samples, self.previous, self.confidence = samples, previous, confidence

    def __len__(self) -> int:
        return len(self.samples)

    @torch.no_grad()
    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The picked samples with inpainted labels."""
        batch = self.samples.batch(picks)
        logits = logits_of(self.previous, batch)
        return batch._replace(labels=inpaint(batch.labels, logits, self.confidence))


def inpainted(samples: Samples, previous: Segmenter, confidence: float = 0.0) -> Samples:
    """Background inpainting of a step's samples; stored views are inpainted once and for all."""
    drawn = Inpainted(samples, previous, confidence)
    if not isinstance(samples, BankSamples):
        return drawn
    views = range(samples.bank.views)
    rows = [drawn.batch([Pick(row, view) for view in views]).labels for row in range(len(samples))]
    result = copy(samples)
    result.relabelled = torch.stack(rows)
    return result


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
    )
