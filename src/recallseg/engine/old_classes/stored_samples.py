"""Store and Replay, the paper's S&R: a few true samples of each step, kept for the later ones.

It is the one method whose run folder holds training photos; they are in `step-k/samples/`.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random

import numpy as np

from recallseg.data.dataset import Pair, SegmentationDataset
from recallseg.data.shrink import save_mask
from recallseg.engine.samples.photo_labels import IDENTITY
from recallseg.engine.samples.views import PhotoSet
from recallseg.files import atomic_path
from recallseg.runs.folder import RunFolder
from recallseg.scenario import Scenario, Step


def store_samples(
    target: Path, step: Step, scenario: Scenario, dataset: SegmentationDataset, room: int, seed: int
) -> None:
    """Keep photos and masks of a step, its classes in turn, while they fit into `room` bytes.

    Every class keeps one sample at least. Masks hold the model's channels, with classes that were
    not of this step as background, which is all that the step knew.
    """
    if target.is_dir():
        return
    with atomic_path(target) as scratch:
        scratch.mkdir()
        kept: set[str] = set()
        for turn, stem in _in_turn(step, scenario, seed):
            if stem in kept:
                continue
            size = _write(dataset, dataset.rows([stem])[0], step, scratch)
            if turn > 0 and room < size:
                for path in scratch.glob(f"{stem}.*"):
                    path.unlink()
                return
            room -= size
            kept.add(stem)


def _in_turn(step: Step, scenario: Scenario, seed: int) -> Iterator[tuple[int, str]]:
    """Photos of the step's classes, one class after the other, with the number of the round."""
    stems = {}
    for label in step.new_classes:
        holding = scenario.presence.stems_with(label)
        stems[label] = sorted(set(step.images) & holding)
        Random(f"{seed}/store/{label}").shuffle(stems[label])
    for turn in count():
        if all(turn >= len(of_class) for of_class in stems.values()):
            return
        for of_class in stems.values():
            if turn < len(of_class):
                yield turn, of_class[turn]


def _write(dataset: SegmentationDataset, row: int, step: Step, folder: Path) -> int:
    """Copy a photo and write its mask; the bytes they take."""
    pair = dataset.pairs[row]
    photo, mask = folder / pair.photo.name, folder / f"{pair.stem}.mask.png"
    shutil.copyfile(pair.photo, photo)
    save_mask(mask, step.label_table[dataset.read_mask(row)])
    return photo.stat().st_size + mask.stat().st_size


def stored_photos(folder: RunFolder, steps: Iterable[Step]) -> list[PhotoSet]:
    """What some steps kept, one set of photos for each of their classes."""
    datasets = [
        dataset
        for step in steps
        for dataset in _classes_of(folder.step(step.index).stored_masks(), step)
    ]
    return [PhotoSet(each, [pair.stem for pair in each.pairs], IDENTITY) for each in datasets]


def _classes_of(masks: Sequence[Path], step: Step) -> Iterator[SegmentationDataset]:
    """What a step kept, by its masks, as one dataset for each of its classes."""
    pairs = [Pair(mask.name.removesuffix(".mask.png"), _photo_of(mask), mask) for mask in masks]
    held = {pair.stem: np.unique(pair.read_mask()) for pair in pairs}
    first = 1 + len(step.old_classes)
    for channel in range(first, first + len(step.new_classes)):
        of_class = tuple(pair for pair in pairs if channel in held[pair.stem])
        if of_class:
            yield SegmentationDataset(f"stored-{channel}", masks[0].parent, "stored", (), of_class)


def _photo_of(mask: Path) -> Path:
    stem = mask.name.removesuffix(".mask.png")
    return next(path for path in mask.parent.glob(f"{stem}.*") if path != mask)
