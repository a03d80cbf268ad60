"""A scenario is a sequence of steps (paper, sec. 3)."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from recallseg.errors import RecallsegError, unknown_name
from recallseg.files import content_key
from recallseg.labels import PADDING, VOID, check_class_count
from recallseg.scenario.presence import PresenceTable, Rows
from recallseg.scenario.specs import parse_spec

SETUPS = ("disjoint", "overlapped", "sequential")
JOINT = "joint"
"""The setup of a scenario whose steps were merged."""
RULES = ("standard", "as-written")

LookUp = npt.NDArray[np.uint8]
"""256 entries, from a label on disk to a channel of the model: `table[mask]` relabels a mask."""


@dataclass(frozen=True)
class Step:
    """Step k: the classes C_k it adds, those before it, and the photos it may see (T_k).

    Classes are ids on disk, in the order in which the model learns them. A class's channel in the
    model is its place in that order; channel 0 is the background.
    """

    index: int
    new_classes: tuple[int, ...]
    old_classes: tuple[int, ...]
    images: tuple[str, ...] = field(repr=False)
    old_labels_visible: bool = False
    """True in the sequential setup, where old classes keep their labels."""
    refined: tuple[int, ...] = ()
    """Old classes of which the step has more photos, where it adds none."""

    @property
    def taught(self) -> tuple[int, ...]:
        """The classes that the step's photos show and label: new ones, or those it refines."""
        return self.new_classes or self.refined

    @property
    def classes(self) -> tuple[int, ...]:
        """All classes known after this step (C_0→k without background)."""
        return (*self.old_classes, *self.new_classes)

    @property
    def channels(self) -> int:
        """The number of output channels after this step, with background."""
        return 1 + len(self.classes)

    @cached_property
    def label_table(self) -> LookUp:
        """How training sees labels: classes that are not of this step are background."""
        if self.old_labels_visible:
            return look_up(self.classes)
        if self.refined:
            table = look_up(())
            table[list(self.refined)] = self.refined_channels
            return table
        return look_up(self.new_classes, first=1 + len(self.old_classes))

    @property
    def refined_channels(self) -> list[int]:
        """The channels of the classes that it refines."""
        return [1 + self.classes.index(label) for label in self.refined]

    @cached_property
    def evaluation_table(self) -> LookUp:
        """How evaluation sees labels: classes that are not learned yet are void."""
        return look_up(self.classes, hidden=VOID)


def look_up(labels: Sequence[int], *, first: int = 1, hidden: int = 0) -> LookUp:
    """A table that numbers `labels` from `first` on and takes all others to `hidden`."""
    table = np.full(256, hidden, dtype=np.uint8)
    table[0], table[PADDING], table[VOID] = 0, VOID, VOID
    table[list(labels)] = range(first, first + len(labels))
    return table


def channels_of(names: Sequence[str], classes: Sequence[str], where: object) -> LookUp:
    """From the labels of a dataset with these `classes` to the channels of a model that calls them
    `names`; what the model does not know is void. `where` is how an error calls the dataset."""
    strangers = [name for name in names if name not in classes]
    if strangers:
        raise RecallsegError(f"{where} lacks classes of the model: {', '.join(strangers)}.")
    return look_up([classes.index(name) for name in names[1:]], hidden=VOID)


class Scenario(Sequence[Step]):
    """The steps of one spec, setup and class order over one dataset."""

    def __init__(
        self,
        spec: str,
        class_names: Sequence[str],
        presence: PresenceTable,
        *,
        setup: str = "disjoint",
        rule: str = "standard",
        order: Sequence[int] | None = None,
        lists: Sequence[Collection[str]] | None = None,
        past: int = 0,
        refined: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        """`lists` are the photos of each step, instead of a rule. The photos of the first `past`
        steps are gone; the presence table knows the others'. `refined` are the classes of steps
        that add none."""
        if setup not in SETUPS:
            raise unknown_name("setup", setup, SETUPS)
        if rule not in RULES:
            raise unknown_name("rule", rule, RULES)
        self.spec, self.setup, self.rule = spec, setup, rule
        self.class_names = tuple(class_names)
        check_class_count(len(self.class_names) - 1, f"The scenario {spec}")
        self.order = _checked_order(order, len(self.class_names))
        self.refined = {index: tuple(labels) for index, labels in (refined or {}).items()}
        self.sizes = parse_spec(spec, len(self.order), self.refined)
        self.presence, self.lists = presence, lists
        self.past = past
        """How many steps were learned before; their photos are not known any more."""
        self._steps = self._build(presence, past)

    def _build(self, presence: PresenceTable, past: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        start, taken = 0, np.zeros(len(presence.stems), dtype=np.bool_)
        for index, size in enumerate(self.sizes):
            old, new = self.order[:start], self.order[start : start + size]
            later, refined = self.order[start + size :], self.refined.get(index, ())
            chosen = self._choose(presence, index, new or refined, later, taken)
            taken |= chosen
            images = tuple(presence.stems[row] for row in np.flatnonzero(chosen))
            if not images and index >= past:
                names = ", ".join(self.class_names[label] for label in new or refined)
                raise RecallsegError(f"Step {index} ({names}) has no training photos.")
            if self.lists is not None and not (chosen & presence.rows_with(new)).any():
                raise RecallsegError(
                    f"None of the {len(images):,} photos in the list of step {index} shows a class "
                    "of that step; give lists of this scenario, whose indices count the photos of "
                    "this training split in its order."
                )
            steps.append(Step(index, new, old, images, self.setup == "sequential", refined))
            start += size
        return tuple(steps)

    def _choose(
        self,
        presence: PresenceTable,
        index: int,
        new: Sequence[int],
        later: Sequence[int],
        taken: Rows,
    ) -> Rows:
        """The photos of a step. `standard` is what the field ships: disjoint photos hold nothing
        of later steps. `as-written` follows the paper's sentences (sec. 3) to the letter."""
        if self.lists is not None:
            listed = self.lists[index]
            return np.array([stem in listed for stem in presence.stems], dtype=np.bool_)
        with_new = presence.rows_with(new)
        without_later = ~presence.rows_with(later)
        overlapped = self.setup == "overlapped"
        if self.rule == "standard":
            return with_new if overlapped else with_new & without_later
        if overlapped:
            return with_new & without_later if index == 0 else with_new
        return with_new & ~taken

    def merged(self) -> "Scenario":
        """All steps as one: every class labelled, in every training photo, in every setup alike."""
        joint = copy(self)
        joint.setup = JOINT
        joint._steps = (Step(0, self.order, (), self.presence.stems),)
        return joint

    def later_photos(self) -> list[str]:
        """The photos of later steps that step 0 has not seen."""
        seen = set(self[0].images)
        return list(dict.fromkeys(s for step in self[1:] for s in step.images if s not in seen))

    def without(self, stems: Collection[str]) -> "Scenario":
        """The same steps with some photos held out of them."""
        gone, less = set(stems), copy(self)
        kept = [row for row, stem in enumerate(self.presence.stems) if stem not in gone]
        less.presence = self.presence.only(kept)
        less._steps = tuple(
            replace(step, images=tuple(stem for stem in step.images if stem not in gone))
            for step in self
        )
        if bare := [step for step in less if not step.images]:
            raise RecallsegError(f"All photos of step {bare[0].index} are held out of it.")
        return less

    @property
    def lists_key(self) -> str | None:
        """A hash of the photos of all steps, where lists named them."""
        return None if self.lists is None else content_key([sorted(each) for each in self.lists])

    def last_that_added(self, step: Step) -> Step:
        """The last step before `step` that added classes; step 0 always did."""
        return next(each for each in reversed(self[: step.index]) if each.new_classes)

    def photos_without_new_classes(self, step: Step) -> int:
        """How many photos of a step show none of its classes: none, unless lists say so."""
        showing = self.presence.rows_with(step.new_classes)
        members = set(step.images)
        rows = zip(self.presence.stems, showing, strict=True)
        return sum(stem in members and not shows for stem, shows in rows)

    @property
    def last_step_is_short(self) -> bool:
        """Whether fewer classes are left for the last step than the spec adds at a time."""
        numbers = self.spec.split("-")
        return len(numbers) == 2 and self.sizes[-1] < int(numbers[1])

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self._steps[index]

    def names(self, labels: Sequence[int]) -> list[str]:
        """The names of class ids."""
        return [self.class_names[label] for label in labels]


def _checked_order(order: Sequence[int] | None, classes: int) -> tuple[int, ...]:
    """The class order, background left out; the order of ids where none is given."""
    natural = tuple(range(1, classes))
    if order is None:
        return natural
    if tuple(sorted(order)) != natural:
        raise RecallsegError(
            f"A class order must name each class from 1 to {classes - 1} exactly once."
        )
    return tuple(order)
