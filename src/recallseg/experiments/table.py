"""A grid of runs, methods × scenarios × setups × seeds, and the table they make."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ValidationError, field_validator

from recallseg.config import RunConfig, Section, load_config, problems
from recallseg.errors import RecallsegError
from recallseg.experiments.places.here import ThisProcess
from recallseg.experiments.places.place import Ended, Job, Place
from recallseg.experiments.schedule import carry_out, in_order
from recallseg.files import read_text, write_json
from recallseg.leases import alone
from recallseg.runs.folder import RunFolder, folder_name
from recallseg.runs.records import ResultRecord

COLUMNS = ("old", "new", "all", "foreground")


class RowSpec(Section):
    """The configuration of a row that needs more than the name of one file."""

    config: tuple[str, ...]
    """The file of its settings, and files whose settings replace some of them."""
    overrides: tuple[str, ...] = ()

    @field_validator("config", mode="before")
    @classmethod
    def _one_or_more(cls, names: object) -> object:
        return (names,) if isinstance(names, str) else names


class TableSpec(Section):
    """Which runs a table is made of."""

    configs: Path
    """The folder of their configurations, relative to the table's file."""
    rows: dict[str, str | RowSpec]
    """Row name to configuration: `MiB: mib` reads mib.yaml; or files and overrides."""
    scenarios: tuple[str, ...] = ("15-1",)
    setups: tuple[Literal["disjoint", "overlapped", "sequential"], ...] = ("disjoint",)
    seeds: tuple[int, ...] = (0,)
    overrides: tuple[str, ...] = ()
    """`key=value` for all rows; a row's own come after them."""


@dataclass(frozen=True)
class RunGroup:
    """The runs of one row in one scenario and setup, one per seed."""

    row: str
    scenario: str
    setup: str
    runs: tuple[tuple[Path, RunConfig], ...]
    """Each run's folder and configuration."""


Show = Callable[[dict[str, Any]], None]
"""Called with the table so far."""


def make_table(
    spec: Path,
    overrides: Sequence[str],
    out: Path,
    show: Show | None = None,
    place: Place | None = None,
) -> dict[str, Any]:
    """Run what is missing at some place, and write `NAME.json` after every run; a second call
    continues. A run that fails does not keep the others from being done; it is an error then."""
    out.mkdir(parents=True, exist_ok=True)
    with alone(out / f".{spec.stem}.lease", f"The table {spec.stem} in {out} is being made by"):
        cells = list(plan_table(spec, overrides, out))
        making = Making(spec.stem, list(overrides), out, cells, show)
        failed = carry_out(
            in_order(making.missing()), place or ThisProcess(), making.hear, place is not None
        )
    if failed:
        shown = "; ".join(f"{folder.name}: {problem}" for folder, problem in failed.items())
        raise RecallsegError(
            f"{len(failed)} of the runs failed, and the same command goes on with them: {shown}"
        )
    return making.table()


@dataclass
class Making:
    """A table in the making."""

    name: str
    overrides: list[str]
    out: Path
    cells: list[RunGroup]
    show: Show | None = None
    done: dict[Path, ResultRecord] = field(default_factory=dict)

    def missing(self) -> list[Job]:
        """The runs that are still to be done; the others are in the table already."""
        jobs = []
        for cell in self.cells:
            for folder, config in cell.runs:
                title = f"{cell.row}, {cell.scenario} {cell.setup}, seed {config.seed}"
                if result := _finished(folder, config):
                    self.done[folder] = result
                else:
                    jobs.append(Job(title, folder, config))
        self._write()
        return jobs

    def hear(self, news: Ended) -> None:
        """Put a run into the table that came to its end."""
        if news.error is None and (result := RunFolder(news.job.folder).result):
            self.done[news.job.folder] = result
            self._write()
            if self.show and len(self.done) < sum(len(cell.runs) for cell in self.cells):
                self.show(self.table())

    def table(self) -> dict[str, Any]:
        """What is known by now."""
        cells = [cell for cell in self.cells if any(folder in self.done for folder, _ in cell.runs)]
        return {
            "table": self.name,
            "overrides": self.overrides,
            "cells": [_summary(cell, self.done) for cell in cells],
        }

    def _write(self) -> None:
        if self.done:
            write_json(self.out / f"{self.name}.json", self.table())


def plan_table(spec: Path, overrides: Sequence[str], out: Path) -> Iterator[RunGroup]:
    """All cells with their configurations, read and checked before the first run."""
    table = read_spec(spec)
    folder = spec.parent / table.configs
    for scenario in table.scenarios:
        for setup in table.setups:
            split = [f"scenario.spec={scenario}", f"scenario.setup={setup}"]
            for name, row in table.rows.items():
                row_spec = RowSpec(config=(row,)) if isinstance(row, str) else row
                path, *over = (folder / f"{file}.yaml" for file in row_spec.config)
                runs = []
                for seed in table.seeds:
                    words = [*split, f"seed={seed}", *table.overrides, *row_spec.overrides]
                    config = load_config(path, [*words, *overrides], over=over)
                    runs.append((out / folder_name(path, config), config))
                yield RunGroup(name, scenario, setup, tuple(runs))


def read_spec(path: Path) -> TableSpec:
    """The YAML file that describes a table."""
    try:
        return TableSpec.model_validate(yaml.safe_load(read_text(path)))
    except FileNotFoundError as error:
        raise RecallsegError(f"The table {path} does not exist.") from error
    except ValidationError as error:
        raise RecallsegError(f"{path} does not describe a table: {problems(error)}.") from error
    except yaml.YAMLError as error:
        raise RecallsegError(f"{path} does not describe a table: it is not YAML.") from error


def _finished(path: Path, config: RunConfig) -> ResultRecord | None:
    """The result of a run that is finished already."""
    folder = RunFolder(path)
    result = folder.result
    if result is not None:
        with folder.at_work():
            folder.claim(config)
    return result


def _summary(cell: RunGroup, done: dict[Path, ResultRecord]) -> dict[str, Any]:
    """Mean and spread over the seeds that are finished, after the last step."""
    results = [done[folder] for folder, _ in cell.runs if folder in done]
    summary: dict[str, Any] = {
        "row": cell.row,
        "scenario": cell.scenario,
        "setup": cell.setup,
        "seeds": [result["seed"] for result in results],
        "keeps_photos": results[0]["keeps_photos"],
        "runs": [folder.name for folder, _ in cell.runs if folder in done],
    }
    for column in COLUMNS:
        values = [result["steps"][-1]["miou"][column] for result in results]
        numbers = [value for value in values if value is not None]
        spread = round(statistics.stdev(numbers), 2) if len(numbers) > 1 else None
        summary[column] = round(statistics.mean(numbers), 2) if numbers else None
        summary[f"{column}_spread"] = spread
    return summary
