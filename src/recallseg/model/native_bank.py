"""Features of whole photos at their native size, for evaluating many decoders on one encoder."""

import zlib
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from recallseg.data.dataset import SegmentationDataset
from recallseg.files import atomic_path, content_key, remove_tree
from recallseg.model.bank import DiskBudget
from recallseg.model.encoders import Encoder

NATIVE_FILES = "*.safetensors"
"""What its files are called; no other file of the bank is."""
SUM = "crc32"
"""In a file's metadata: a checksum of its features."""


class NativeBank:
    """One file of features a photo, in full precision, so that scores do not depend on it."""

    def __init__(
        self, parent: Path, dataset: SegmentationDataset, encoder: Encoder, budget: DiskBudget
    ) -> None:
        self.encoder, self.budget = encoder, budget
        self.unstored = 0
        """Photos that there was no room for."""
        self.folder = parent / content_key(encoder.fingerprint(), dataset.signature(), "native")

    @torch.no_grad()
    def features(self, row: int, photo: Tensor) -> Tensor:
        """The features of photo number `row`, (1, 3, H, W), stored while there is room."""
        path = self.folder / f"{row:06}.safetensors"
        if (stored := _read(path)) is not None:
            return stored.to(photo.device)
        features: Tensor = self.encoder(photo)
        if path.is_file() or self.budget.take(features.nbytes):
            tensor = features.cpu().contiguous()
            if path.is_dir():
                remove_tree(path)
            with atomic_path(path) as temporary:
                save_file({"features": tensor}, temporary, metadata={SUM: _sum(tensor)})
        else:
            self.unstored += 1
        return features


def _sum(features: Tensor) -> str:
    return f"{zlib.crc32(features.numpy().tobytes()):08x}"


def _read(path: Path) -> Tensor | None:
    """Stored features; None where there are none, or damaged ones."""
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            features: Tensor = file.get_tensor("features")
            noted = (file.metadata() or {}).get(SUM)
    except (SafetensorError, OSError):
        return None
    return features if noted in (None, _sum(features)) else None
