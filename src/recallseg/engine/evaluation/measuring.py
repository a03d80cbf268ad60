"""Measuring a model on a split: every pixel of the photos' own size counts."""

from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from recallseg.data.dataset import SegmentationDataset
from recallseg.data.pictures import write_pictures
from recallseg.data.transforms import photo_tensor
from recallseg.data.working_size import at_working_size
from recallseg.engine.session import Session
from recallseg.labels import VOID
from recallseg.metrics.boundary import near_boundary
from recallseg.metrics.confusion import ConfusionMatrix
from recallseg.metrics.scores import Confusion
from recallseg.model import Segmenter
from recallseg.model.cores import on_every_core
from recallseg.model.geometry import own_rows
from recallseg.model.native_bank import NativeBank
from recallseg.scenario import LookUp

AT_ONCE = 2**25
"""Logits that are looked at together where a photo is large."""


class Counts(NamedTuple):
    """The confusion matrices of a split."""

    everywhere: Confusion
    near_boundary: Confusion
    """Of the pixels within three of an edge of the mask on disk, the same ones at every step."""


def evaluate(
    session: Session,
    model: Segmenter,
    dataset: SegmentationDataset,
    table: LookUp,
    bank: NativeBank | None = None,
    name: str = "evaluation",
    keep: Path | None = None,
) -> Counts:
    """The confusion matrices of `model` over `dataset`, with masks seen through `table`.

    The model looks at photos at its working size; what it sees is measured at their own.

    Processes share the photos without padding, so none is counted twice. With a bank, only the
    decoder has to run for photos that were encoded before. The first process's predictions go to
    the zip file `keep`, as small masks without the photos.
    """
    fabric = session.fabric
    everywhere, edges = (
        fabric.to_device(ConfusionMatrix(model.decoder.classes)) for _ in Counts._fields
    )
    model = fabric.to_device(model).eval()
    rows = range(fabric.global_rank, len(dataset), fabric.world_size)

    def seen_and_true(row: int) -> tuple[Tensor, Tensor, Tensor]:
        image, mask = dataset.read(row)
        small = at_working_size(image, session.config.views.longer_side)
        photo = fabric.to_device(photo_tensor(small)[None])
        maps = model.decoder(bank.features(row, photo) if bank else model.encoder(photo))
        looked_at, size = (small.height, small.width), (image.height, image.width)
        bands = own_rows(maps, model.encoder.stride, looked_at, size, AT_ONCE)
        seen = torch.cat([logits.max(dim=1).indices for _, logits in bands], dim=1)
        truth = torch.from_numpy(table[mask])
        at_edges = truth.where(near_boundary(torch.from_numpy(mask)), VOID)
        return seen, fabric.to_device(truth[None]), fabric.to_device(at_edges[None])

    kept = write_pictures(keep) if keep and fabric.is_global_zero else nullcontext()
    with session.reporter.phase(name, len(rows)) as phase, kept as pictures:
        found = on_every_core(seen_and_true, rows)
        for row, (seen, truth, at_edges) in zip(rows, found, strict=True):
            everywhere.update(seen, truth)
            edges.update(seen, at_edges)
            if pictures:
                mask = seen[0].to("cpu", torch.uint8).numpy()
                pictures.add_mask(dataset.pairs[row].stem, mask)
            phase.advance()
    if bank and bank.unstored:
        session.reporter.say(
            f"{name}: {len(rows) - bank.unstored} of {len(rows)} photos fit into their share of "
            "bank.budget_gb; the rest is encoded on the fly"
        )
    return Counts(everywhere.counts(), edges.counts())
