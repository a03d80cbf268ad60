"""Runs that differ only in their seed, as one row of a table."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recallseg.config import RunConfig, flat
from recallseg.report.runs import Run, Task
from recallseg.runs.folder import FREE_SETTINGS

NOT_TOLD = {"seed", "data.root", "replay.folder.path", "replay.gan.path"}
"""Settings that do not tell two rows apart."""


@dataclass(frozen=True)
class Value:
    """A score over the seeds that have it; `spread` is its standard deviation, or None for one."""

    mean: float
    spread: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.spread is None else f"{self.mean:.1f} ± {self.spread:.1f}"


def value_of(numbers: Iterable[float | None]) -> Value | None:
    """The mean and spread of the numbers that are known."""
    known = [number for number in numbers if number is not None]
    if not known:
        return None
    spread = statistics.stdev(known) if len(known) > 1 else None
    return Value(statistics.mean(known), spread)


@dataclass(frozen=True)
class Series:
    """The runs of one row in one column, one for each seed."""

    label: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Run:
        """The run whose pictures and steps are shown."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """The method as the paper calls it."""
        return self.first.name

    @property
    def place(self) -> tuple[list[int], str]:
        """Where the row stands among others."""
        return self.first.row["place"], self.label

    @property
    def finished(self) -> tuple[Run, ...]:
        """The runs that came to their end."""
        return tuple(run for run in self.runs if run.result is not None)

    def final(self, kind: str, initial: int | None = None) -> Value | None:
        """A kind of mIoU at the end of the runs that came to it."""
        return value_of(run.scores(initial).get(kind) for run in self.finished)

    def after(self, step: int, kind: str) -> Value | None:
        """A kind of mIoU after a step, over the runs that have it."""
        return value_of(run.scores(step=step)[kind] for run in self.runs if len(run.steps) > step)


def series_of(runs: Sequence[Run]) -> dict[Task, list[Series]]:
    """Runs by column and row; rows that share a name are told apart by their settings."""
    tasks: dict[Task, list[Series]] = {}
    for task in sorted({run.task for run in runs}):
        named: dict[str, list[Run]] = {}
        for run in runs:
            if run.task == task:
                named.setdefault(run.name, []).append(run)
        tasks[task] = [
            Series(label, tuple(sorted(members, key=lambda run: run.config.seed)))
            for name in sorted(named, key=lambda name: (named[name][0].row["place"], name))
            for label, members in _told_apart(name, named[name]).items()
        ]
    return tasks


def joint_of(tasks: dict[Task, list[Series]], task: Task) -> Series | None:
    """Joint training on the same photos, in whichever scenario it was run."""
    same = [other for other in tasks if other.dataset == task.dataset]
    for other in sorted(same, key=lambda other: other != task):
        for series in tasks[other]:
            if series.first.is_joint and series.finished:
                return series
    return None


def settings_but(run: Run, *left_out: str) -> str:
    """A text that runs share if they differ in `NOT_TOLD` and `left_out` settings only."""
    found = flat(run.config.model_dump(mode="json", exclude=FREE_SETTINGS))
    return str([item for item in found.items() if item[0] not in NOT_TOLD | {*left_out}])


def _told_apart(name: str, runs: list[Run]) -> dict[str, list[Run]]:
    """Rows for runs of one name: the usual settings have it plain, others say what differs."""
    found = [flat(run.config.model_dump(mode="json", exclude=FREE_SETTINGS)) for run in runs]
    keys = [key for key in found[0] if key not in NOT_TOLD]
    differing = [key for key in keys if len({str(each.get(key)) for each in found}) > 1]
    usual = _usual([{key: each.get(key) for key in differing} for each in found])
    rows: dict[str, list[Run]] = {}
    for run, each in zip(runs, found, strict=True):
        others = [key for key in differing if each.get(key) != usual[key]]
        told = ", ".join(f"{key.split('.')[-1]} {each.get(key)}" for key in others[:3])
        rows.setdefault(f"{name}, {told}" if told else name, []).append(run)
    return rows


def _usual(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The settings that most runs have, and of those the ones closest to the defaults."""
    defaults = flat(RunConfig().model_dump(mode="json"))

    def usualness(each: dict[str, Any]) -> tuple[int, int]:
        plain = sum(value == defaults.get(key) for key, value in each.items())
        return found.count(each), plain

    return max(found, key=usualness)
