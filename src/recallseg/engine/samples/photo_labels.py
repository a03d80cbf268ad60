"""Labels that a model writes for photos as a whole, once, in the cache; views cut them along.

Replay images with `replay.label_on=photos` and the step's own photos with
`method.inpaint_on=photos` take this way.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from recallseg.checksums import is_damaged, seal
from recallseg.data.dataset import Mask, Pair, SegmentationDataset
from recallseg.data.shrink import save_mask
from recallseg.data.transforms import to_tensors
from recallseg.engine.samples.relabelling import Relabel
from recallseg.engine.samples.views import PhotoSet
from recallseg.engine.session import Session
from recallseg.files import atomic_path, remove_tree, write_text
from recallseg.labels import PADDING
from recallseg.methods import Batch
from recallseg.model.cores import on_every_core
from recallseg.scenario import look_up

INPAINTED = "inpainted"
"""In the cache: labels of training photos whose background a model filled."""
IDENTITY = look_up(range(1, PADDING))
"""For labels that are channels of the model already."""
LINES = "labels.jsonl"

Label = Callable[[int], tuple[Mask, dict[str, Any]]]
"""From a photo's number to its mask, and to what else is to be kept of it."""


def mask_path(folder: Path, number: int) -> Path:
    """The mask of photo `number` in a folder of labels."""
    return folder / f"{number:05}.png"


def write_labels(
    session: Session, folder: Path, name: str, count: int, label: Label
) -> list[dict[str, Any]]:
    """Label `count` photos unless that was done before; what is kept of each besides its mask.

    The folder appears when all are done.
    """
    if session.fabric.is_global_zero:
        waiting = f"{name}: waiting for the same labels, which are written by"
        with session.turn(folder, waiting):
            if is_damaged(folder):
                remove_tree(folder)
            if not folder.is_dir():
                _write_labels(session, folder, name, count, label)
    session.fabric.barrier()
    return [json.loads(line) for line in (folder / LINES).read_text().splitlines()]


def _write_labels(session: Session, folder: Path, name: str, count: int, label: Label) -> None:
    lines = []
    with atomic_path(folder) as target, session.reporter.phase(name, count) as progress:
        target.mkdir()
        for number, (mask, about) in enumerate(on_every_core(label, range(count))):
            save_mask(mask_path(target, number), mask)
            lines.append(json.dumps(about))
            progress.advance()
        write_text(target / LINES, "".join(f"{line}\n" for line in lines))
        seal(target)


def relabelled_photos(
    session: Session, photos: PhotoSet, relabel: Relabel, folder: Path, name: str
) -> PhotoSet:
    """The same photos with new labels, which a model that saw each of them whole wrote once."""
    dataset = photos.dataset.subset(photos.stems)

    def label(number: int) -> tuple[Mask, dict[str, Any]]:
        photo, mask = to_tensors(*dataset.read(number))
        known = torch.from_numpy(photos.table[mask.numpy()])
        written = relabel(Batch(known[None], photos=photo[None]))[0]
        return written.numpy(), {"photo": dataset.pairs[number].stem}

    write_labels(session, folder, name, len(dataset), label)
    pairs = tuple(
        Pair(pair.stem, pair.photo, mask_path(folder, number))
        for number, pair in enumerate(dataset.pairs)
    )
    written = SegmentationDataset(dataset.name, folder, dataset.split, (), pairs)
    written = written.at(dataset.longer_side)
    return PhotoSet(written, photos.stems, IDENTITY)
