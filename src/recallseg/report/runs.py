"""Run folders as a report reads them: what is there, and what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recallseg.config import RunConfig
from recallseg.errors import RecallsegError
from recallseg.metrics.scores import mean_iou
from recallseg.runs.folder import RunFolder
from recallseg.runs.older import row_of
from recallseg.runs.records import ClassRecord, Means, ResultRecord, RowRecord, StepRecord


@dataclass(frozen=True, order=True)
class Task:
    """What runs in one column of a table have in common."""

    dataset: str
    scenario: str
    setup: str

    def __str__(self) -> str:
        return f"{self.dataset}, {self.scenario} {self.setup}"


@dataclass(frozen=True)
class Run:
    """One run folder; `steps` are those that were measured, from the first on."""

    path: Path
    config: RunConfig
    classes: ClassRecord
    """The channels, and the classes and photos of each step; empty before the first step."""
    steps: tuple[StepRecord, ...]
    result: ResultRecord | None

    @property
    def folder(self) -> RunFolder:
        """The folder and the paths in it."""
        return RunFolder(self.path)

    @property
    def task(self) -> Task:
        """The column of a table that the run belongs to."""
        scenario = self.config.scenario
        return Task(self.config.data.name, scenario.spec, scenario.setup)

    @property
    def is_joint(self) -> bool:
        """Whether all classes were learned at once."""
        return self.config.method.name == "joint"

    @property
    def source(self) -> str | None:
        """The name of the source of its replay images."""
        settings = self.config.replay.settings
        return settings.title if settings else None

    @property
    def row(self) -> RowRecord:
        """The row of a table that the run belongs to."""
        return self.classes.get("row") or row_of(self.config)

    @property
    def name(self) -> str:
        """The name of the method in tables."""
        return self.row["title"]

    def added(self, step: int, most: int | None = None) -> str:
        """What a step was about: its new classes, `most` of them, or those that it refined."""
        names = self.classes["steps"][step]
        if not names:
            refined = self.classes.get("refined", {}).get(str(step), [])
            return f"more of {', '.join(refined)}"
        return ", ".join(names[:most]) + (" …" if most and len(names) > most else "")

    @property
    def missing(self) -> str | None:
        """What is missing from the run, or None."""
        if self.result is not None:
            lost = len(self.steps) < len(self.result["steps"])
            return f"step-{len(self.steps)}/metrics.json is not there any more" if lost else None
        planned = len(self.classes["steps"]) or None
        if not self.steps:
            return "no step was measured yet"
        if planned is not None and len(self.steps) < planned:
            return f"stopped after step {len(self.steps) - 1} of {planned - 1}"
        return "the last step was measured, but the run did not finish"

    def scores(self, initial: int | None = None, step: int = -1) -> Means:
        """The mIoUs after a step, with the first `initial` classes as old ones.

        By default those of the run's own step 0; joint training has scores for any split.
        """
        if not self.steps:
            return {}
        if initial is None:
            return self.steps[step]["miou"]
        values = np.array(
            [np.nan if value is None else value for value in self.steps[step]["iou"].values()]
        )
        channels = range(1, len(values))
        means = mean_iou(values, channels[:initial], channels[initial:])
        return {name: None if value != value else value for name, value in means.items()}


def read_run(path: Path) -> Run:
    """The run in a folder, finished or not."""
    folder = RunFolder.existing(path)
    steps: list[StepRecord] = []
    while (scores := folder.scores(len(steps))) is not None:
        steps.append(scores)
    classes = folder.classes or {"channels": [], "steps": [], "initial": 0}
    if len(classes["steps"]) < len(steps):
        raise RecallsegError(
            f"{path} has scores of {len(steps)} steps, but its classes.json does not name them. "
            "Put back a copy of it."
        )
    return Run(path, folder.config, classes, tuple(steps), folder.result)


def read_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs in the named folders; a folder of run folders means all of them."""
    runs: dict[Path, Run] = {}
    for path in paths:
        if not path.is_dir():
            raise RecallsegError(f"{path} is not a folder of runs.")
        inside = RunFolder.inside(path)
        single = RunFolder.is_one(path) or not inside
        for folder in [path] if single else inside:
            runs.setdefault(folder.resolve(), read_run(folder))
    return list(runs.values())
