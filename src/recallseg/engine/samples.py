"""The stream of training samples: what is drawn at each iteration is a function of the seed alone.

Nothing here has state that grows with training, so a resumed run asks for iteration i and gets what
an uninterrupted one got.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Protocol

import torch

from recallseg.data.dataset import SegmentationDataset
from recallseg.data.transforms import ViewRecipe, to_tensors
from recallseg.methods import Batch
from recallseg.model.bank import FeatureBank
from recallseg.scenario.scenario import LookUp


@dataclass(frozen=True)
class Pick:
    """The photo at place `row` of a step, seen for the `visit`-th time."""

    row: int
    visit: int


class Samples(Protocol):
    """Somewhere to draw training samples from."""

    def __len__(self) -> int: ...

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The samples that were picked."""
        ...


@dataclass(frozen=True)
class Schedule:
    """Which photos make up which batch: every photo once, in a new order each time around."""

    photos: int
    batch: int
    seed: str

    def picks(self, iteration: int) -> list[Pick]:
        """The photos of batch number `iteration`."""
        start = iteration * self.batch
        rounds = (divmod(place, self.photos) for place in range(start, start + self.batch))
        return [Pick(_shuffled(self.photos, self.seed, n)[place], n) for n, place in rounds]


@lru_cache(maxsize=8)
def _shuffled(length: int, seed: str, visit: int) -> list[int]:
    order = list(range(length))
    Random(f"{seed}/round/{visit}").shuffle(order)
    return order


class PhotoSamples:
    """The plain path: photos are read and cut anew at every visit, and encoded in training."""

    def __init__(
        self, dataset: SegmentationDataset, table: LookUp, recipe: ViewRecipe, seed: str
    ) -> None:
        self.dataset, self.table, self.recipe, self.seed = dataset, table, recipe, seed

    def __len__(self) -> int:
        return len(self.dataset)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """uint8 views (B, 3, crop, crop) and their labels."""
        photos, labels = zip(*map(self._view, picks), strict=True)
        return Batch(torch.stack(labels), photos=torch.stack(photos))

    def _view(self, pick: Pick) -> tuple[torch.Tensor, torch.Tensor]:
        photo, mask = self.dataset.read(pick.row)
        stem = self.dataset.pairs[pick.row].stem
        rng = Random(f"{self.seed}/{stem}/{pick.visit}")
        return self.recipe(*to_tensors(photo, self.table[mask]), rng)


class BankSamples:
    """The quick path: a stored view of each photo, another one at each visit."""

    def __init__(self, bank: FeatureBank, rows: Sequence[int], table: LookUp) -> None:
        self.bank, self.rows, self.table = bank, rows, table

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """Features (B, C, h, w) and labels."""
        rows = [self.rows[pick.row] for pick in picks]
        features, labels = self.bank.read(rows, [pick.visit % self.bank.views for pick in picks])
        return Batch(torch.from_numpy(self.table[labels]), features=features.float())
