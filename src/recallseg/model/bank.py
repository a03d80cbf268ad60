"""Encode once, decode many: features of a frozen encoder, kept on disk (paper, sec. 3: E_0).

Every later model of a run is a small decoder on the same encoder, so a view of a photo is encoded
once and every step, helper decoder and pseudo-label reads its features from here. Features of
training photos are training data: a bank lies in the cache, never in a run folder.
"""

import math
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from fnmatch import filter as matching
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recallseg.data.dataset import SegmentationDataset
from recallseg.data.transforms import ViewRecipe, to_tensors
from recallseg.errors import RecallsegError
from recallseg.files import content_key, readable_disk_errors, reserve, write_json
from recallseg.labels import PADDING
from recallseg.model.cores import on_every_core
from recallseg.model.encoders import Encoder

Labels = npt.NDArray[np.uint8]
Number = TypeVar("Number", np.float16, np.uint8, np.uint32)
UNKNOWN = 1
"""In place of the checksum of a view that was stored before there were any."""


def bytes_on_disk(folder: Path, pattern: str = "*") -> int:
    """The space that the files below `folder` really take; sparse files count what is filled.

    Files that another run deletes meanwhile do not count.
    """
    total = 0
    for parent, _, names in os.walk(folder):
        for name in matching(names, pattern):
            with suppress(FileNotFoundError):
                total += Path(parent, name).stat().st_blocks * 512
    return total


def bytes_per_view(encoder: Encoder, recipe: ViewRecipe) -> int:
    """What a stored view takes: features in half precision and labels."""
    return 2 * math.prod(encoder.feature_shape(recipe.crop)) + recipe.label_size**2


class DiskBudget:
    """How much may still be written below a folder, into files whose names match a pattern.

    A budget `within` another one spends that one's bytes too.
    """

    def __init__(
        self,
        folder: Path,
        limit: float,
        pattern: str = "*",
        within: "DiskBudget | None" = None,
    ) -> None:
        self.folder, self.limit, self.pattern, self.within = folder, limit, pattern, within
        self.recount()

    def recount(self) -> None:
        """Forget what was set aside and look at the disk again."""
        self.left = self.limit - bytes_on_disk(self.folder, self.pattern)

    def take(self, size: int, count: int = 1) -> int:
        """Set `size` bytes aside for each of `count` things, as far as they go; how many fit."""
        fits = max(0, min(count, int(self.left // size)))
        if self.within:
            fits = self.within.take(size, fits)
        self.left -= fits * size
        return fits


class FeatureBank:
    """V augmented views of the photos of a dataset: features in half precision, and masks.

    Files are memory-mapped and sparse: there is a place for every photo, filled when a step first
    needs it, so that all steps, methods and scenarios on one encoder share them. The views of a
    photo are encoded together and depend on nothing but its name, so the content does not depend
    on the order of filling.
    """

    def __init__(
        self,
        parent: Path,
        dataset: SegmentationDataset,
        encoder: Encoder,
        recipe: ViewRecipe,
        views: int,
        seed: int,
    ) -> None:
        self.dataset, self.encoder, self.recipe, self.views = dataset, encoder, recipe, views
        parts = {
            "encoder": encoder.fingerprint(),
            "data": dataset.signature(),
            "recipe": asdict(recipe),
            "views": views,
            "seed": seed,
            "padding": PADDING,
        }
        self.seed = seed
        self.folder = parent / content_key(parts)
        self._about = parts | {"dataset": dataset.name, "photos": len(dataset)}

    @property
    def bytes_per_photo(self) -> int:
        """What the views of one photo take on disk."""
        return self.views * bytes_per_view(self.encoder, self.recipe)

    def open(self) -> None:
        """Map the files, making them first if they are not there."""
        with readable_disk_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / "about.json").exists():
                write_json(self.folder / "about.json", self._about)
            count, side = len(self.dataset), self.recipe.label_size
            shape = self.encoder.feature_shape(self.recipe.crop)
            self._features = _sparse(
                self.folder / "features.f16", np.float16, (count, self.views, *shape)
            )
            self._labels = _sparse(
                self.folder / "labels.u8", np.uint8, (count, self.views, side, side)
            )
            self._done = _sparse(self.folder / "done.u8", np.uint8, (count,))
            had_sums = (self.folder / "sums.u32").exists()
            self._sums = _sparse(self.folder / "sums.u32", np.uint32, (count, self.views))
            if not had_sums:
                self._sums[self._done[:] == 1] = UNKNOWN
            self._sound = np.zeros((count, self.views), dtype=bool)

    def missing(self, rows: Sequence[int]) -> list[int]:
        """Those of `rows` whose views are not stored yet."""
        self.open()
        return [row for row in rows if not self._done[row]]

    def fill(self, rows: Sequence[int], advance: Callable[[int], None] = lambda _: None) -> None:
        """Encode the views of `rows` that are missing; `advance` hears of every photo."""
        missing = self.missing(rows)
        encoded = on_every_core(self._encoded, missing)
        for row, (features, labels) in zip(missing, encoded, strict=True):
            self._write(row, features, labels)
            advance(1)

    def _write(self, row: int, features: Tensor, labels: Tensor) -> None:
        """Store the views of a photo, and then that they are there."""
        sums = torch.zeros(self.views, dtype=torch.int32)
        done = torch.ones(1).byte()
        parts = {"features.f16": features, "labels.u8": labels, "sums.u32": sums, "done.u8": done}
        for name, values in parts.items():
            with (self.folder / name).open("r+b") as file:
                reserve(file, row * values.nbytes, values.nbytes, self.folder)
        self._features[row] = features.numpy()
        self._labels[row] = labels.numpy()
        self._sums[row] = [self._sum(row, view) for view in range(self.views)]
        self._done[row] = 1

    def _sum(self, row: int, view: int) -> int:
        """A checksum of a stored view; neither 0, as where nothing was stored, nor `UNKNOWN`."""
        features = zlib.crc32(self._features[row, view].tobytes())
        return max(2, zlib.crc32(self._labels[row, view].tobytes(), features))

    def _encoded(self, row: int) -> tuple[Tensor, Tensor]:
        """The features of all views of a photo, (V, C, h, w), and their labels."""
        photos, labels = self._views_of(row, range(self.views))
        return self._features_of(photos), labels

    def _features_of(self, photos: Tensor) -> Tensor:
        """Features (B, C, h, w) of views in half precision.

        A CPU encodes them one by one: how it rounds depends on how many there are, and a view has
        the same features whether it was stored or not.
        """
        device = next(self.encoder.parameters()).device
        groups = photos[:, None] if device.type == "cpu" else photos[None]
        encoded = [self.encoder(group.to(device)) for group in groups]
        features = torch.cat(encoded).to(torch.float16).cpu()
        if not torch.isfinite(features).all():
            raise RecallsegError(
                "The encoder's features are too large for half precision; set "
                "bank.enabled=false to train on them in full precision."
            )
        return features

    def _views_of(self, row: int, views: Iterable[int]) -> tuple[Tensor, Tensor]:
        """Some views of a photo, (B, 3, crop, crop), and their labels."""
        stem = self.dataset.pairs[row].stem
        photo, mask = to_tensors(*self.dataset.read(row))
        cuts = [self.recipe(photo, mask, Random(f"{self.seed}/{stem}/{view}")) for view in views]
        return torch.stack([cut[0] for cut in cuts]), torch.stack([cut[1] for cut in cuts])

    def read(self, rows: Sequence[int], views: Sequence[int]) -> tuple[Tensor, Labels]:
        """Features (B, C, h, w) in half precision, and labels (B, side, side) as on disk.

        A view is checked when it is first read; the views of a photo that are damaged are made
        anew.
        """
        for row, view in zip(rows, views, strict=True):
            if not self._sound[row, view]:
                if self._sums[row, view] not in (UNKNOWN, self._sum(row, view)):
                    with torch.no_grad():
                        self._write(row, *self._encoded(row))
                self._sound[row, view] = True
        return torch.from_numpy(self._features[rows, views]), self._labels[rows, views]

    @torch.no_grad()
    def encode(self, rows: Sequence[int], views: Sequence[int]) -> tuple[Tensor, Labels]:
        """What `read` would give if the photos were stored; they are read and encoded instead."""
        pairs = zip(rows, views, strict=True)
        photos, labels = zip(*(self._views_of(row, [view]) for row, view in pairs), strict=True)
        return self._features_of(torch.cat(photos)), torch.cat(labels).numpy()


def _sparse(path: Path, dtype: type[Number], shape: tuple[int, ...]) -> npt.NDArray[Number]:
    """A file mapped into memory, as long as the array but empty where nothing was written."""
    with path.open("ab") as file:
        file.truncate(math.prod(shape) * np.dtype(dtype).itemsize)
    return np.memmap(path, dtype=dtype, mode="r+", shape=shape)
