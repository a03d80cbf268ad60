"""What a reader of a format finds: photos, what is labelled in each, and what it left out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from recallseg.data.dataset import Mask
from recallseg.data.importing.regions import Region
from recallseg.labels import BACKGROUND, VOID

BACKGROUND_NAMES = ("background", "_background_", "__background__")
VOID_NAMES = ("void", "ignore", "__ignore__")
"""What tools call pixels that are not to be counted."""


class Skips:
    """What is left out, counted by its reason, with the first example of each."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], str] = {}

    def add(self, what: str, reason: str, where: object, count: int = 1) -> None:
        """Count `what` (an object, a photo, a pixel) that was left out or changed at `where`."""
        if count:
            self.counts[what, reason] += count
            self.examples.setdefault((what, reason), str(where))

    def join(self, other: "Skips") -> None:
        """Add what was counted elsewhere."""
        self.counts.update(other.counts)
        self.examples = other.examples | self.examples


class Labels(Protocol):
    """What is labelled in one photo."""

    def paint(self, size: tuple[int, int], ids: Mapping[str, int], skips: Skips) -> Mask:
        """The mask of a photo of (width, height), with `ids` for the class names."""


@dataclass(frozen=True)
class Shape:
    """One object: the name of its class, and the part of the photo that it covers."""

    name: str
    region: Region


@dataclass(frozen=True)
class Drawing:
    """Objects that are painted one over the other, in their order or the largest first."""

    shapes: tuple[Shape, ...]
    where: str
    largest_first: bool = False

    def paint(self, size: tuple[int, int], ids: Mapping[str, int], skips: Skips) -> Mask:
        """Paint all objects on background; those that cover no pixel are counted as left out."""
        width, height = size
        mask = np.full((height, width), BACKGROUND, dtype=np.uint8)
        shapes = self.shapes
        if self.largest_first:
            shapes = tuple(sorted(shapes, key=lambda shape: -shape.region.area))
        for shape in shapes:
            hits = shape.region.pixels(height, width)
            mask[hits] = ids[shape.name]
            if not hits.any():
                skips.add("object", "covers no pixel of the photo", self.where)
        return mask


@dataclass(frozen=True)
class Scene:
    """One photo with its labels."""

    photo: Path
    labels: Labels
    split: str | None = None
    size: tuple[int, int] | None = None
    """The (width, height) that the labels are for, where the format tells."""
    name: str | None = None
    """What the photo is to be called, if not by its file."""
    is_temporary: bool = False
    """Whether the photo's file is gone after the import, so that no link can lead to it."""


@dataclass
class Findings:
    """All that a reader found."""

    classes: list[str]
    """The class names in the order of their ids, without the background."""
    scenes: list[Scene]
    skips: Skips = field(default_factory=Skips)


def drawn_classes(names: Sequence[str], scenes: Sequence[Scene]) -> list[str]:
    """The names of which at least one object was drawn, in their order, each of them once."""
    drawings = [scene.labels for scene in scenes if isinstance(scene.labels, Drawing)]
    seen = {shape.name for drawing in drawings for shape in drawing.shapes}
    return [name for name in dict.fromkeys(names) if name in seen and not is_special(name)]


def is_special(name: str) -> bool:
    """Whether a name stands for the background or for void, and not for a class."""
    return name.lower() in BACKGROUND_NAMES + VOID_NAMES


class ClassIds(dict[str, int]):
    """Ids of class names; the names of the background and of void have theirs too."""

    def __init__(self, classes: Sequence[str]) -> None:
        super().__init__({name: number for number, name in enumerate(classes, start=1)})

    def __missing__(self, name: str) -> int:
        if name.lower() in VOID_NAMES:
            return VOID
        if name.lower() in BACKGROUND_NAMES:
            return BACKGROUND
        raise KeyError(name)
