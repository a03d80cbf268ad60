"""Sets of training samples: photos that are cut anew at every visit, or views with features.

Features are stored as far as the bank has room. What is not stored is encoded at every visit, the
same views with the same features: what fits decides how long a run takes, never what it learns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Protocol

import torch

from recallseg.data.dataset import SegmentationDataset
from recallseg.data.transforms import ViewRecipe, to_tensors
from recallseg.methods import Batch
from recallseg.model.bank import FeatureBank
from recallseg.scenario import LookUp

MOST_SMALL = 1000
"""Photos that are remembered at their working size; of 384 px they take about 0.4 GB."""


@dataclass(frozen=True)
class Pick:
    """The photo at place `row` of a set of samples, seen for the `visit`-th time."""

    row: int
    visit: int


class Samples(Protocol):
    """Somewhere to draw training samples from."""

    def __len__(self) -> int: ...

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The samples that were picked."""
        ...


class PhotoSamples:
    """The plain path: photos are read and cut anew at every visit, and encoded in training."""

    def __init__(
        self, dataset: SegmentationDataset, table: LookUp, recipe: ViewRecipe, seed: str
    ) -> None:
        self.dataset, self.table, self.recipe, self.seed = dataset, table, recipe, seed
        self._small: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __len__(self) -> int:
        return len(self.dataset)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """uint8 views (B, 3, crop, crop) and their labels."""
        photos, labels = zip(*map(self._view, picks), strict=True)
        stride = self.recipe.label_stride
        return Batch(torch.stack(labels), photos=torch.stack(photos), label_stride=stride)

    def _view(self, pick: Pick) -> tuple[torch.Tensor, torch.Tensor]:
        stem = self.dataset.pairs[pick.row].stem
        rng = Random(f"{self.seed}/{stem}/{pick.visit}")
        view, labels = self.recipe(*self._read(pick.row), rng)
        return view, torch.from_numpy(self.table[labels])

    def _read(self, row: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A photo and its mask; those that were brought to a size are remembered, some of them,
        as decoding a large photo takes longer than learning from it."""
        if row in self._small:
            return self._small[row]
        pair = to_tensors(*self.dataset.read(row))
        if self.dataset.longer_side is not None and len(self._small) < MOST_SMALL:
            self._small[row] = pair
        return pair


class BankSamples:
    """The quick path: a stored view of each photo, another one at each visit."""

    def __init__(self, bank: FeatureBank, rows: Sequence[int], table: LookUp) -> None:
        self.bank, self.rows, self.table = bank, rows, table
        self.views = bank.views

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def label_shape(self) -> tuple[int, int]:
        """Height and width of the labels of one view."""
        side = self.bank.recipe.label_size
        return side, side

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """Features (B, C, h, w) and labels."""
        rows = [self.rows[pick.row] for pick in picks]
        views = [pick.visit % self.bank.views for pick in picks]
        features, stored = self.bank.read(rows, views)
        stride = self.bank.recipe.label_stride
        return Batch(
            torch.from_numpy(self.table[stored]), features=features.float(), label_stride=stride
        )


class EncodedSamples:
    """The views of `BankSamples`, of photos that are not stored: encoded when they are drawn."""

    def __init__(self, bank: FeatureBank, rows: Sequence[int], table: LookUp) -> None:
        self.bank, self.rows, self.table = bank, rows, table

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """Features (B, C, h, w) and labels."""
        rows = [self.rows[pick.row] for pick in picks]
        views = [pick.visit % self.bank.views for pick in picks]
        features, labels = self.bank.encode(rows, views)
        stride = self.bank.recipe.label_stride
        return Batch(
            torch.from_numpy(self.table[labels]), features=features.float(), label_stride=stride
        )


class PartlyStored:
    """One set of samples out of two: those whose features are stored, and the others."""

    def __init__(self, stored: Samples, others: Samples, is_stored: Sequence[bool]) -> None:
        self.stored, self.others = stored, others
        numbers = {True: count(), False: count()}
        self.places = [(here, next(numbers[here])) for here in is_stored]
        """For each sample, whether it is stored and its row among its like."""

    def __len__(self) -> int:
        return len(self.places)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The samples that were picked, in their order."""
        places = [self.places[pick.row] for pick in picks]
        inner = [Pick(row, pick.visit) for (_, row), pick in zip(places, picks, strict=True)]
        if all(here for here, _ in places):
            return self.stored.batch(inner)
        sets = [self.stored if here else self.others for here, _ in places]
        return joined([each.batch([pick]) for each, pick in zip(sets, inner, strict=True)])

    def each(self, change: Callable[[Samples], Samples]) -> "PartlyStored":
        """The same set with a change made to both of its parts."""
        is_stored = [here for here, _ in self.places]
        return PartlyStored(change(self.stored), change(self.others), is_stored)


class Chained:
    """Several sets of samples as one, one after the other."""

    def __init__(self, parts: Sequence[Samples]) -> None:
        self.places = [(part, row) for part in parts for row in range(len(part))]

    def __len__(self) -> int:
        return len(self.places)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """The samples that were picked, in their order."""
        chosen = [(*self.places[pick.row], pick.visit) for pick in picks]
        return joined([part.batch([Pick(row, visit)]) for part, row, visit in chosen])


def samples_of(bank: FeatureBank, rows: Sequence[int], table: LookUp) -> Samples:
    """Samples of a bank's photos: from the bank where they are stored, else encoded as drawn."""
    missing = set(bank.missing(rows))
    if not missing:
        return BankSamples(bank, rows, table)
    if missing.issuperset(rows):
        return EncodedSamples(bank, rows, table)
    stored = BankSamples(bank, [row for row in rows if row not in missing], table)
    others = EncodedSamples(bank, [row for row in rows if row in missing], table)
    return PartlyStored(stored, others, [row not in missing for row in rows])


def joined(batches: Sequence[Batch]) -> Batch:
    """Several batches as one; all come as photos, or all as features."""
    photos = [each.photos for each in batches if each.photos is not None]
    features = [each.features for each in batches if each.features is not None]
    if photos and features:
        raise ValueError("batches of photos and batches of features cannot be joined")
    return Batch(
        torch.cat([each.labels for each in batches]),
        photos=torch.cat(photos) if photos else None,
        features=torch.cat(features) if features else None,
        label_stride=batches[0].label_stride,
    )
