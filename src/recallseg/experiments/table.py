"""A grid of runs, methods × scenarios × setups × seeds, and the table they make."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from recallseg.config import RunConfig
from recallseg.errors import RecallsegError
from recallseg.experiments.places.here import ThisProcess
from recallseg.experiments.places.place import Ended, Job, Place
from recallseg.experiments.schedule import carry_out, in_order
from recallseg.experiments.table_spec import RunGroup, plan_table
from recallseg.files import write_json
from recallseg.leases import alone
from recallseg.runs.folder import RunFolder
from recallseg.runs.kept_records import RunScores, kept_tables
from recallseg.runs.records import ResultRecord
from recallseg.runs.settings import other_settings, shared_settings, told_settings

Column = Literal["old", "new", "all", "foreground"]
COLUMNS: tuple[Column, ...] = ("old", "new", "all", "foreground")


Show = Callable[[dict[str, Any]], None]
"""Called with the table so far."""


def make_table(
    spec: Path,
    overrides: Sequence[str],
    out: Path,
    show: Show | None = None,
    place: Place | None = None,
    kept: Path | None = None,
    collect: bool = False,
) -> dict[str, Any]:
    """Run what is missing at some place, and write `NAME.json` after every run; a second call
    continues. A run that fails does not keep the others from being done; it is an error then.

    Runs whose scores are in a table of the folder `kept` are not done again. With `collect` none
    is done at all, and the table is of those that are there.
    """
    known = kept_runs(kept) if kept else {}
    out.mkdir(parents=True, exist_ok=True)
    with alone(out / f".{spec.stem}.lease", f"The table {spec.stem} in {out} is being made by"):
        cells = list(plan_table(spec, overrides, out))
        making = Making(spec.stem, list(overrides), out, cells, show, known)
        missing = making.missing()
        if collect:
            if not making.done:
                raise RecallsegError(f"Of the {len(missing)} runs of {spec} none is done yet.")
            return making.table()
        failed = carry_out(
            in_order(missing), place or ThisProcess(), making.hear, place is not None
        )
    if failed:
        shown = "; ".join(f"{folder.name}: {problem}" for folder, problem in failed.items())
        raise RecallsegError(
            f"{len(failed)} of the runs failed, and the same command goes on with them: {shown}"
        )
    return making.table()


@dataclass(frozen=True)
class Outcome:
    """What a table tells of a run."""

    scores: RunScores
    keeps_photos: bool

    @classmethod
    def of(cls, result: ResultRecord) -> "Outcome":
        """That of a run after its last step."""
        after = [step["miou"] for step in result["steps"]]
        scores: Any = {column: after[-1][column] for column in COLUMNS}
        scores["steps"] = [means["all"] for means in after]
        return cls(scores, result["keeps_photos"])


def kept_runs(folder: Path) -> dict[str, Outcome]:
    """The runs in the tables of a folder, by their names."""
    return {
        name: Outcome(scores, cell["keeps_photos"])
        for _, table in kept_tables(folder)
        for cell in table["cells"]
        for name, scores in zip(cell["runs"], cell.get("scores", []), strict=False)
    }


@dataclass
class Making:
    """A table in the making."""

    name: str
    overrides: list[str]
    out: Path
    cells: list[RunGroup]
    show: Show | None = None
    known: dict[str, Outcome] = field(default_factory=dict)
    """Runs that were done elsewhere, by their names."""
    done: dict[Path, Outcome] = field(default_factory=dict)
    settings: list[dict[str, Any]] = field(init=False)
    """Of each cell."""

    def __post_init__(self) -> None:
        self.folders = {folder for cell in self.cells for folder, _ in cell.runs}
        self.settings = [told_settings(cell.runs[0][1]) for cell in self.cells]

    def missing(self) -> list[Job]:
        """The runs that are still to be done, each once; the others are in the table already."""
        jobs: dict[Path, Job] = {}
        for cell in self.cells:
            for folder, config in cell.runs:
                title = f"{cell.row}, {cell.scenario} {cell.setup}, seed {config.seed}"
                if folder in self.done or folder in jobs:
                    continue
                if result := _finished(folder, config):
                    self.done[folder] = Outcome.of(result)
                elif folder.name in self.known:
                    self.done[folder] = self.known[folder.name]
                else:
                    jobs[folder] = Job(title, folder, config)
        self._write()
        return [*jobs.values()]

    def hear(self, news: Ended) -> None:
        """Put a run into the table that came to its end."""
        if news.error is None and (result := RunFolder(news.job.folder).result):
            self.done[news.job.folder] = Outcome.of(result)
            self._write()
            if self.show and len(self.done) < len(self.folders):
                self.show(self.table())

    def table(self) -> dict[str, Any]:
        """What is known by now; settings that all cells share are told once."""
        shared = shared_settings(self.settings)
        return {
            "table": self.name,
            "overrides": self.overrides,
            "runs": {"done": len(self.done), "planned": len(self.folders)},
            "settings": shared,
            "cells": [
                _summary(cell, self.done) | {"settings": other_settings(settings, shared)}
                for cell, settings in zip(self.cells, self.settings, strict=True)
                if any(folder in self.done for folder, _ in cell.runs)
            ],
        }

    def _write(self) -> None:
        if self.done:
            write_json(self.out / f"{self.name}.json", self.table())


def _finished(path: Path, config: RunConfig) -> ResultRecord | None:
    """The result of a run that is finished already."""
    folder = RunFolder(path)
    result = folder.result
    if result is not None:
        with folder.at_work():
            folder.claim(config)
    return result


def _summary(cell: RunGroup, done: dict[Path, Outcome]) -> dict[str, Any]:
    """Mean and spread over the seeds that are finished, after the last step."""
    finished = [(folder, config.seed) for folder, config in cell.runs if folder in done]
    outcomes = [done[folder] for folder, _ in finished]
    summary: dict[str, Any] = {
        "row": cell.row,
        "scenario": cell.scenario,
        "setup": cell.setup,
        "seeds": [seed for _, seed in finished],
        "keeps_photos": outcomes[0].keeps_photos,
        "runs": [folder.name for folder, _ in finished],
        "scores": [outcome.scores for outcome in outcomes],
    }
    for column in COLUMNS:
        numbers = [score for each in outcomes if (score := each.scores[column]) is not None]
        spread = round(statistics.stdev(numbers), 4) if len(numbers) > 1 else None
        summary[column] = round(statistics.mean(numbers), 4) if numbers else None
        summary[f"{column}_spread"] = spread
    return summary
