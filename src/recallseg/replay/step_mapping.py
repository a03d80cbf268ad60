"""The Class Mapping Module at work on the photos of a step (paper, eq. mapper)."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor

from recallseg.gan.classifier import PhotoClassifier
from recallseg.model.cores import on_every_core
from recallseg.replay.gan_source import GanSettings
from recallseg.replay.mapping import Match, map_classes
from recallseg.replay.source import Lesson

MARGIN = 0.1
"""Around a box, as a share of its sides."""

Look = tuple[Image.Image, dict[str, float]]
"""What the classifier is shown, and how much that counts for each class."""


def map_step(
    lesson: Lesson,
    classifier: PhotoClassifier,
    settings: GanSettings,
    earlier: Mapping[str, Sequence[Match]],
) -> dict[str, tuple[Match, ...]]:
    """What the generator calls each class of C_k, by classifying the photos of T_k.

    `earlier` is what it calls those that were mapped before.
    """
    classifier = classifier.to(lesson.device)
    names, dataset, map_by = lesson.names, lesson.dataset, settings.map_by
    holding = {label: {*stems[: settings.map_photos]} for label, stems in lesson.stems.items()}
    rows = sorted(dataset.rows([*set().union(*holding.values())]))

    def looks(row: int) -> list[Look]:
        photo, mask = dataset.read(row)
        stem = dataset.pairs[row].stem
        inside = {name: mask == at for at, name in names.items() if stem in holding[at]}
        areas = {name: float(where.mean()) for name, where in inside.items()}
        if map_by == "photos":
            return [(photo, dict.fromkeys(areas, 1.0))]
        seen = [name for name in inside if areas[name] and map_by == "boxes"]
        boxes = [(photo.crop(box(inside[name])), {name: areas[name]}) for name in seen]
        return boxes or [(photo, areas)]

    def classified(row: int) -> tuple[Tensor, list[dict[str, float]]]:
        views, weights = zip(*looks(row), strict=True)
        prepared = [classifier.prepare(view)[None] for view in views]
        logits = [classifier(each.to(lesson.device)) for each in prepared]
        return torch.cat(logits), [*weights]

    def batches() -> Iterator[tuple[Tensor, list[dict[str, float]]]]:
        with lesson.reporter.phase(f"step {lesson.step}: class mapping", len(rows)) as phase:
            for batch in on_every_core(classified, rows):
                yield batch
                phase.advance()

    used = [matches[0].index for matches in earlier.values()]
    taken = used if settings.map_apart else None
    return map_classes(batches(), classifier.names, taken=taken)


def box(where: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is True, with a margin, inside the photo."""
    edges = []
    for axis in (0, 1):
        places = np.flatnonzero(where.any(axis))
        first, last = int(places[0]), int(places[-1]) + 1
        margin = round(MARGIN * (last - first))
        edges.append((max(0, first - margin), min(where.shape[1 - axis], last + margin)))
    (left, right), (top, bottom) = edges
    return left, top, right, bottom
