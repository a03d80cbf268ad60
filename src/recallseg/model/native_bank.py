"""Features of whole photos at their native size, for evaluating many decoders on one encoder."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from recallseg.data.dataset import SegmentationDataset
from recallseg.files import atomic_path, content_key
from recallseg.model.bank import DiskBudget
from recallseg.model.encoders import Encoder, Features


class NativeBank:
    """One file of features a photo, in full precision, so that scores do not depend on it."""

    def __init__(
        self, parent: Path, dataset: SegmentationDataset, encoder: Encoder, budget: DiskBudget
    ) -> None:
        self.encoder, self.budget = encoder, budget
        self.folder = parent / content_key(encoder.fingerprint(), dataset.signature(), "native")

    @torch.no_grad()
    def features(self, row: int, photo: Tensor) -> Features:
        """The features of photo number `row`, (1, 3, H, W), stored while there is room."""
        path = self.folder / f"{row:06}.safetensors"
        if path.is_file():
            stored = load_file(path)
            return tuple(stored[name].to(photo.device) for name in sorted(stored))
        features: Features = self.encoder(photo)
        if self.budget.take(sum(map_.nbytes for map_ in features)):
            with atomic_path(path) as temporary:
                named = {str(i): map_.cpu().contiguous() for i, map_ in enumerate(features)}
                save_file(named, temporary)
        return features
