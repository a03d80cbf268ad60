"""Features of whole photos at their native size, for evaluating many decoders on one encoder."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from recallseg.data.dataset import SegmentationDataset
from recallseg.files import atomic_path, content_key
from recallseg.model.bank import DiskBudget
from recallseg.model.encoders import Encoder

NATIVE_FILES = "*.safetensors"
"""What its files are called; no other file of the bank is."""


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
        if path.is_file():
            return load_file(path)["features"].to(photo.device)
        features: Tensor = self.encoder(photo)
        if self.budget.take(features.nbytes):
            with atomic_path(path) as temporary:
                save_file({"features": features.cpu().contiguous()}, temporary)
        else:
            self.unstored += 1
        return features
