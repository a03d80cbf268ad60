"""Runs that differ only in their seed, as one row of a table."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recallseg.config import RunConfig, flat
from recallseg.report.runs import Run, Task
from recallseg.runs.settings import FREE_SETTINGS

IGNORED = {"seed", "data.root", "replay.folder.path", "replay.gan.path"}
"""Settings in which the runs of one row may differ."""


@dataclass(frozen=True)
class Value:
    """A score over the seeds that have it; `spread` is its standard deviation, or None for one."""

    mean: float
    spread: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.spread is None else f"{self.mean:.1f} ± {self.spread:.1f}"


def value_of(numbers: Iterable[float | None]) -> Value | None:
    """The mean and spread of the numbers, without those that are None."""
    values = [number for number in numbers if number is not None]
    if not values:
        return None
    spread = statistics.stdev(values) if len(values) > 1 else None
    return Value(statistics.mean(values), spread)


@dataclass(frozen=True)
class Series:
    """The runs of one row in one column, one per seed."""

    label: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Run:
        """The run whose pictures and steps are shown."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """The name of the method in the paper."""
        return self.first.name

    @property
    def sort_key(self) -> tuple[list[int], str]:
        """Decides the order of rows."""
        return self.first.row["place"], self.label

    @property
    def finished(self) -> tuple[Run, ...]:
        """The runs that are finished."""
        return tuple(run for run in self.runs if run.result is not None)

    def final(self, kind: str, initial: int | None = None) -> Value | None:
        """A kind of mIoU at the end of the finished runs."""
        return value_of(run.scores(initial).get(kind) for run in self.finished)

    def after(self, step: int, kind: str) -> Value | None:
        """A kind of mIoU after a step, over the runs that have it."""
        return value_of(run.scores(step=step)[kind] for run in self.runs if len(run.steps) > step)


def series_of(runs: Sequence[Run]) -> dict[Task, list[Series]]:
    """Runs by column and row; rows of the same name are labelled with the settings that differ."""
    tasks: dict[Task, list[Series]] = {}
    for task in sorted({run.task for run in runs}):
        named: dict[str, list[Run]] = {}
        for run in runs:
            if run.task == task:
                named.setdefault(run.name, []).append(run)
        tasks[task] = [
            Series(label, tuple(sorted(members, key=lambda run: run.config.seed)))
            for name in sorted(named, key=lambda name: (named[name][0].row["place"], name))
            for label, members in _labelled(name, named[name]).items()
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


def settings_except(run: Run, *left_out: str) -> str:
    """A text that is equal for runs that differ only in `IGNORED` and `left_out` settings."""
    settings = flat(run.config.model_dump(mode="json", exclude=FREE_SETTINGS))
    return str([item for item in settings.items() if item[0] not in IGNORED | {*left_out}])


def _labelled(name: str, runs: list[Run]) -> dict[str, list[Run]]:
    """Runs of one name by row label: the name alone for the usual settings, else what differs."""
    settings = [flat(run.config.model_dump(mode="json", exclude=FREE_SETTINGS)) for run in runs]
    keys = [key for key in settings[0] if key not in IGNORED]
    differing = [key for key in keys if len({str(values.get(key)) for values in settings}) > 1]
    usual = _usual([{key: values.get(key) for key in differing} for values in settings])
    rows: dict[str, list[Run]] = {}
    for run, values in zip(runs, settings, strict=True):
        others = [key for key in differing if values.get(key) != usual[key]]
        differences = ", ".join(f"{key.split('.')[-1]} {values.get(key)}" for key in others[:3])
        rows.setdefault(f"{name}, {differences}" if differences else name, []).append(run)
    return rows


def _usual(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """The settings that most runs have, and of those the ones closest to the defaults."""
    defaults = flat(RunConfig().model_dump(mode="json"))

    def usualness(candidate: dict[str, Any]) -> tuple[int, int]:
        plain = sum(value == defaults.get(key) for key, value in candidate.items())
        return settings.count(candidate), plain

    return max(settings, key=usualness)
