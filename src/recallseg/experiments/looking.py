"""What looking at photos costs beside the bare model: one by one, together, in an evaluation."""

from collections.abc import Callable

import torch
from torch import Tensor

from recallseg.data.dataset import SegmentationDataset
from recallseg.data.transforms import photo_tensor
from recallseg.data.working_size import at_working_size
from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.session import Session
from recallseg.experiments.timing import in_turns
from recallseg.model import Segmenter
from recallseg.model.cores import on_every_core
from recallseg.scenario import LookUp

AT_ONCE = 4
"""Views or photos of one size that are looked at together, where that is compared."""


def look_at(network: Callable[[Tensor], Tensor], batches: list[Tensor]) -> None:
    """Have a network look at batches, on every core."""
    for _ in on_every_core(network, batches):
        pass


def alone_over_together(network: Callable[[Tensor], Tensor], ready: list[Tensor]) -> float:
    """The time of photos (1,3,H,W) one by one over that of batches of those of one size."""
    by_size: dict[torch.Size, list[Tensor]] = {}
    for photo in ready:
        by_size.setdefault(photo.shape, []).append(photo)
    groups = [
        torch.cat(same[at : at + AT_ONCE])
        for same in by_size.values()
        for at in range(0, len(same), AT_ONCE)
    ]
    works = {
        "alone": lambda: look_at(network, ready),
        "fours": lambda: look_at(network, groups),
    }
    times = in_turns(works, rounds=3)
    return times["alone"] / times["fours"]


def evaluation_ratios(
    session: Session, model: Segmenter, val: SegmentationDataset, table: LookUp
) -> dict[str, float]:
    """Measuring a model on photos beside the bare model on tensors that are ready."""
    side = session.config.views.longer_side
    images = [at_working_size(val.read(row)[0], side) for row in range(len(val))]
    ready = [photo_tensor(image)[None] for image in images]

    def classes(batch: Tensor) -> Tensor:
        logits: Tensor = model(batch).logits
        return logits.max(dim=1).indices

    works: dict[str, Callable[[], object]] = {
        "whole": lambda: evaluate(session, model, val, table),
        "bare": lambda: look_at(classes, ready),
    }
    times = in_turns(works, rounds=3)
    return {
        "evaluate: a split over the bare model": times["whole"] / times["bare"],
        "evaluate: one by one over fours": alone_over_together(classes, ready),
    }
