"""Which classes every training mask holds: all that is needed to split a dataset into steps."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recallseg.checksums import is_damaged, seal
from recallseg.data.dataset import Pair, SegmentationDataset
from recallseg.errors import RecallsegError
from recallseg.files import cache_root, remove_tree, write_text
from recallseg.labels import VOID
from recallseg.leases import cache_in_use, in_turn, lease_beside
from recallseg.progress import map_files, messages

Rows = npt.NDArray[np.bool_]
"""One truth value a photo."""

COLUMNS = ["split", "id", "classes"]


@dataclass(frozen=True)
class PresenceTable:
    """`holds[i, c]`: the mask of `stems[i]` has a pixel of class c (0 is the background)."""

    stems: tuple[str, ...]
    holds: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, Iterable[int]]], classes: int) -> "PresenceTable":
        """Build from (stem, labels) rows; `classes` counts the background."""
        listed = [(stem, list(labels)) for stem, labels in rows]
        holds = np.zeros((len(listed), classes), dtype=np.bool_)
        for row, (stem, labels) in enumerate(listed):
            if outside := [label for label in labels if not 0 <= label < classes]:
                raise RecallsegError(
                    f"The mask of '{stem}' holds the label {outside[0]}; labels are 0 to "
                    f"{classes - 1}, and {VOID} for void."
                )
            holds[row, labels] = True
        return cls(tuple(stem for stem, _ in listed), holds)

    def stems_with(self, label: int) -> set[str]:
        """The photos that hold a class."""
        return {self.stems[row] for row in np.flatnonzero(self.holds[:, label])}

    def only(self, rows: Sequence[int]) -> "PresenceTable":
        """The table of some of its rows."""
        return PresenceTable(tuple(self.stems[row] for row in rows), self.holds[list(rows)])

    def rows_with(self, labels: Sequence[int]) -> Rows:
        """Which photos hold at least one of the classes."""
        return np.asarray(self.holds[:, list(labels)].any(axis=1))


def read_presence(path: Path, split: str, classes: int) -> PresenceTable:
    """Read a CSV of `split,id,classes` rows, keeping those of `split`."""
    if not path.is_file():
        raise RecallsegError(f"The presence table {path} does not exist.")
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise RecallsegError(
                f"{path} is not a presence table: its first line must be '{','.join(COLUMNS)}'."
            )
        rows = [row for row in reader if row["split"] == split]
    if not rows:
        raise RecallsegError(f"{path} has no rows of the split '{split}'.")
    try:
        parsed = [(row["id"], [int(label) for label in row["classes"].split()]) for row in rows]
    except ValueError as error:
        raise RecallsegError(f"{path} is not a presence table: {error}.") from error
    return PresenceTable.of(parsed, classes)


def compute_presence(dataset: SegmentationDataset) -> PresenceTable:
    """Read every mask once, on all cores; the result is cached until a mask changes."""
    name = f"{dataset.name}-{dataset.split}.csv"
    cached = cache_root() / "presence" / dataset.signature() / name
    waiting = "waiting for the same masks, which are read by"
    with cache_in_use(), in_turn(lease_beside(cached.parent), waiting, messages().print):
        if is_damaged(cached.parent):
            remove_tree(cached.parent)
        seal(cached.parent)
        if not cached.is_file():
            _write_presence(cached, dataset)
        return read_presence(cached, dataset.split, len(dataset.classes))


def _write_presence(cached: Path, dataset: SegmentationDataset) -> None:
    labels = map_files(_labels, dataset.pairs, "Reading the masks")
    rows = [
        (pair.stem, labels_shown) for pair, labels_shown in zip(dataset.pairs, labels, strict=True)
    ]
    PresenceTable.of(rows, len(dataset.classes))
    lines = [
        f"{dataset.split},{stem},{' '.join(map(str, labels_shown))}" for stem, labels_shown in rows
    ]
    write_text(cached, "\n".join([",".join(COLUMNS), *lines, ""]))


def _labels(pair: Pair) -> list[int]:
    """The labels in a mask, void left out."""
    counts = np.bincount(pair.read_mask().ravel(), minlength=VOID + 1)
    labels_shown: list[int] = np.flatnonzero(counts[:VOID]).tolist()
    return labels_shown
