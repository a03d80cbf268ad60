"""Decode every file of a split once, so that a broken one is found before training starts."""

from recallseg.data.dataset import SegmentationDataset
from recallseg.files import cache_root, write_text
from recallseg.leases import cache_in_use
from recallseg.progress import map_files


def verify(dataset: SegmentationDataset) -> None:
    """Read all photos and masks; the first broken one is an error. Good splits are remembered."""
    marker = cache_root() / "verified" / dataset.signature()
    if not marker.is_file():
        map_files(lambda row: _read(dataset, row), range(len(dataset)), f"Reading {dataset.split}")
        with cache_in_use():
            write_text(marker, f"{dataset.root} {dataset.split}\n")


def _read(dataset: SegmentationDataset, row: int) -> None:
    dataset.read(row)
