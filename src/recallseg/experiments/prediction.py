"""What predicting costs beside the bare model: reading photos, scores, masks, their order."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from recallseg.data import open_dataset
from recallseg.data.decoding import read_photo
from recallseg.data.transforms import photo_tensor
from recallseg.data.working_size import at_working_size
from recallseg.experiments.timing import seconds_of
from recallseg.predict.glance import BATCH
from recallseg.predict.predictor import Predictor
from recallseg.runs.folder import RunFolder

ROUNDS = 3


def bench_prediction(path: Path, photos: int) -> dict[str, Any]:
    """Predict validation photos from their files, and run the bare model over them, in turn.

    The bare model gets batches that are ready in memory. `speed` is the bare model's time over that
    of the whole: 1 means that nothing is lost around the model. Each is the quickest of a few
    rounds.
    """
    data = RunFolder.existing(path).config.data
    pairs = open_dataset(data.name, data.val, data.root).pairs[:photos]
    paths = [pair.photo for pair in pairs]
    predictor = Predictor.open(path, device="cpu")
    batches = _batches(paths, predictor.models.working_side)

    @torch.no_grad()
    def bare() -> None:
        for batch in batches:
            predictor.model(batch).logits.max(dim=1)

    def whole() -> None:
        for _ in predictor.predict_many(paths):
            pass

    bare()
    rounds = [(seconds_of(bare), seconds_of(whole)) for _ in range(ROUNDS)]
    bare_seconds, whole_seconds = (min(times) for times in zip(*rounds, strict=True))
    return {
        "photos": len(paths),
        "threads": torch.get_num_threads(),
        "bare_s": round(bare_seconds, 2),
        "predict_s": round(whole_seconds, 2),
        "speed": round(bare_seconds / whole_seconds, 2),
    }


def _batches(paths: list[Path], side: int | None) -> list[Tensor]:
    """The photos as tensors (B,3,H,W) as the model looks at them, those of one size together."""
    by_size: dict[tuple[int, int], list[Tensor]] = {}
    for path in paths:
        photo = at_working_size(read_photo(path), side)
        by_size.setdefault(photo.size, []).append(photo_tensor(photo))
    return [
        torch.stack(group[start : start + BATCH])
        for group in by_size.values()
        for start in range(0, len(group), BATCH)
    ]
