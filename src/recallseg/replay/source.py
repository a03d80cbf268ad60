"""What every source of replay images does (paper: Source Block)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallseg.data.dataset import SegmentationDataset
from recallseg.replay.photos import ReplayPhoto
from recallseg.reporter import Reporter

if TYPE_CHECKING:
    import torch

Say = Callable[[str], None]
"""Takes a sentence for the person who waits: a warning or a summary."""

Memory = Mapping[str, Any]
"""What a source learned of each class, as JSON values; the run folder keeps it."""


@dataclass(frozen=True)
class Lesson:
    """The photos of a step, for sources that learn from them: (C_k, T_k)."""

    step: int
    names: Mapping[int, str]
    """The new classes by their label in the masks."""
    dataset: SegmentationDataset
    stems: Mapping[int, Sequence[str]]
    """The photos of the step that show each new class."""
    memory: Memory
    """What the source learned at earlier steps, or at this one before it was interrupted."""
    device: "torch.device"
    reporter: Reporter


class Source(ABC):
    """Something that brings images of a class, knowing only its name."""

    name: str
    """How lists of photos and messages call it."""

    def learn(self, lesson: Lesson) -> Memory:
        """Get ready to bring images of a step's classes; give all that is to be remembered.

        Called once per step, in their order. Most sources need a class's name and nothing else.
        """
        return lesson.memory

    @abstractmethod
    def collect(self, class_name: str, count: int, folder: Path, say: Say) -> list[ReplayPhoto]:
        """Bring up to `count` images into `folder` and give their entries, in a fixed order.

        Called again, it goes on where it was and fetches nothing twice. Fewer images than asked
        for are a warning through `say`, never an error.
        """
