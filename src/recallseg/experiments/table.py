"""A grid of runs, methods × scenarios × setups × seeds, and the table they make."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ValidationError, field_validator

from recallseg.config import RunConfig, Section, load_config, problems
from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.files import write_json
from recallseg.progress import messages
from recallseg.runs.folder import RunFolder, folder_name
from recallseg.runs.records import ResultRecord

COLUMNS = ("old", "new", "all", "foreground")


class RowSpec(Section):
    """The runs of a row, where its name alone does not say it."""

    config: tuple[str, ...]
    """The file of its settings, and files that are laid over it."""
    overrides: tuple[str, ...] = ()

    @field_validator("config", mode="before")
    @classmethod
    def _one_or_more(cls, names: object) -> object:
        return (names,) if isinstance(names, str) else names


class TableSpec(Section):
    """Which runs a table is made of."""

    configs: Path
    """The folder of their configurations, as seen from the file."""
    rows: dict[str, str | RowSpec]
    """What each row is called, and its file: `MiB: mib` is mib.yaml; or its file and overrides."""
    scenarios: tuple[str, ...] = ("15-1",)
    setups: tuple[Literal["disjoint", "overlapped", "sequential"], ...] = ("disjoint",)
    seeds: tuple[int, ...] = (0,)
    overrides: tuple[str, ...] = ()
    """`key=value` for all rows; a row's own come after them."""


@dataclass(frozen=True)
class RunGroup:
    """The runs of one row in one scenario and setup, one for each seed."""

    row: str
    scenario: str
    setup: str
    runs: tuple[tuple[Path, RunConfig], ...]
    """Each run's folder and configuration."""


Show = Callable[[dict[str, Any]], None]
"""Takes the table as far as it is known."""


def make_table(
    spec: Path, overrides: Sequence[str], out: Path, show: Show | None = None
) -> dict[str, Any]:
    """Run what is missing, and write `NAME.json` after every run; the same again goes on."""
    cells = list(plan_table(spec, overrides, out))
    total = sum(len(cell.runs) for cell in cells)
    done: dict[Path, ResultRecord] = {}
    table: dict[str, Any] = {}
    for cell in cells:
        for folder, config in cell.runs:
            title = f"{cell.row}, {cell.scenario} {cell.setup}, seed {config.seed}"
            messages().print(f"{len(done) + 1} of {total}: {title}", highlight=False, markup=False)
            done[folder] = _finished(folder, config) or run(config, folder)
            table = {
                "table": spec.stem,
                "overrides": list(overrides),
                "cells": [_summary(cell, done) for cell in cells if cell.runs[0][0] in done],
            }
            write_json(out / f"{spec.stem}.json", table)
            if show and len(done) < total:
                show(table)
    return table


def plan_table(spec: Path, overrides: Sequence[str], out: Path) -> Iterator[RunGroup]:
    """All cells with their configurations, read and checked before the first run."""
    found = read_spec(spec)
    folder = spec.parent / found.configs
    for scenario in found.scenarios:
        for setup in found.setups:
            split = [f"scenario.spec={scenario}", f"scenario.setup={setup}"]
            for row, about in found.rows.items():
                chosen = RowSpec(config=(about,)) if isinstance(about, str) else about
                path, *over = (folder / f"{name}.yaml" for name in chosen.config)
                runs = []
                for seed in found.seeds:
                    words = [*split, f"seed={seed}", *found.overrides, *chosen.overrides]
                    config = load_config(path, [*words, *overrides], over=over)
                    runs.append((out / folder_name(path, config), config))
                yield RunGroup(row, scenario, setup, tuple(runs))


def read_spec(path: Path) -> TableSpec:
    """The YAML file that describes a table."""
    try:
        return TableSpec.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise RecallsegError(f"The table {path} does not exist.") from error
    except ValidationError as error:
        raise RecallsegError(f"{path} does not describe a table: {problems(error)}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RecallsegError(f"{path} does not describe a table: it is not YAML.") from error


def _finished(path: Path, config: RunConfig) -> ResultRecord | None:
    """The result of a run that came to its end before."""
    folder = RunFolder(path)
    result = folder.result
    if result is not None:
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
        known = [value for value in values if value is not None]
        summary[column] = round(statistics.mean(known), 2) if known else None
        summary[f"{column}_spread"] = round(statistics.stdev(known), 2) if len(known) > 1 else None
    return summary
