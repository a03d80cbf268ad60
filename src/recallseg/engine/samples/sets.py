"""Sets of training samples: photos that are cut anew at every visit, or stored views of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

import torch

from recallseg.data.dataset import SegmentationDataset
from recallseg.data.transforms import ViewRecipe, to_tensors
from recallseg.methods import Batch
from recallseg.model.bank import FeatureBank
from recallseg.scenario import LookUp


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

    def __len__(self) -> int:
        return len(self.dataset)

    def batch(self, picks: Sequence[Pick]) -> Batch:
        """uint8 views (B, 3, crop, crop) and their labels."""
        photos, labels = zip(*map(self._view, picks), strict=True)
        stride = self.recipe.label_stride
        return Batch(torch.stack(labels), photos=torch.stack(photos), label_stride=stride)

    def _view(self, pick: Pick) -> tuple[torch.Tensor, torch.Tensor]:
        photo, mask = self.dataset.read(pick.row)
        stem = self.dataset.pairs[pick.row].stem
        rng = Random(f"{self.seed}/{stem}/{pick.visit}")
        view, labels = self.recipe(*to_tensors(photo, mask), rng)
        return view, torch.from_numpy(self.table[labels])


class BankSamples:
    """The quick path: a stored view of each photo, another one at each visit."""

    def __init__(self, bank: FeatureBank, rows: Sequence[int], table: LookUp) -> None:
        self.bank, self.rows, self.table = bank, rows, table
        self.relabelled: torch.Tensor | None = None
        """Labels (photos, views, H, W) to be used instead of the stored ones."""

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
        if self.relabelled is None:
            labels = torch.from_numpy(self.table[stored])
        else:
            labels = self.relabelled[[pick.row for pick in picks], views]
        stride = self.bank.recipe.label_stride
        return Batch(labels, features=features.float(), label_stride=stride)
