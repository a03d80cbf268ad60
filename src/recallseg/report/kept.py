"""Results that were kept as JSON: those of `recallseg table`, and `result.json` of single runs.

A single run's file is called DATASET-SCENARIO-SETUP-CONFIGURATION.json, with -sN before the dot for
other seeds than 0. `tools/keep_result.py` adds the row, the command and the settings, which
earlier files do not have.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recallseg.data.kinds import DATASETS
from recallseg.errors import RecallsegError
from recallseg.paper import TRIPLE, paper
from recallseg.report.runs import Task
from recallseg.report.series import Value, value_of
from recallseg.runs.kept_records import (
    KeptResultRecord,
    TableRecord,
    kept_files,
    kept_tables,
)
from recallseg.runs.older import METHODS
from recallseg.runs.records import read_text_record

CONFIGURATIONS = METHODS | {
    "recall-gan": "RECALL (GAN)",
    "recall-web": "RECALL (Web)",
    "inpaint": "Inpainting",
}
"""The rows that shipped configurations are for, by the names of their files."""


@dataclass(frozen=True)
class KeptRow:
    """A row of a table in one column, and how it was made."""

    task: Task
    label: str
    scores: dict[str, Value | None]
    seeds: tuple[int, ...]
    commands: tuple[str, ...]
    """One for each file that it is made of; none where no file says."""
    settings: dict[str, Any]
    """All that decided it; empty in files that do not say."""
    file: str
    steps: tuple[Value | None, ...] = ()
    """`all` after each step; none in files that do not say."""

    @property
    def chose_settings(self) -> bool:
        """Whether it was measured on photos that are there to choose settings on."""
        return str(self.settings.get("data.val", "")).startswith("tune")


@dataclass(frozen=True)
class Kept:
    """All that a folder of results holds, each row once for each column."""

    rows: tuple[KeptRow, ...]
    left_out: tuple[str, ...]
    """What is in the files and not in `rows`, and why."""
    unfinished: tuple[str, ...]
    """Tables that have runs still to be done."""
    by_step: dict[tuple[Task, str], tuple[Value | None, ...]]
    """`all` after each step of a row in a column, over the most seeds of which files say it."""

    def find(self, task: Task, label: str) -> KeptRow | None:
        """A row in a column."""
        same = (row for row in self.rows if row.task == task and row.label == label)
        return next(same, None)

    def joint(self, task: Task) -> KeptRow | None:
        """Joint training on the same photos, of another split where this one has none."""
        rows = [row for row in self.rows if row.label == "Joint" and row.scores["all"]]
        same = [row for row in rows if row.task.dataset == task.dataset]
        return min(same, key=lambda row: (row.task != task, row.task), default=None)


def read_kept(folder: Path) -> Kept:
    """The results in a folder, without those in folders inside it."""
    rows: list[KeptRow] = []
    single: list[KeptRow] = []
    unfinished = []
    for path, table in kept_tables(folder):
        rows += _rows_of_table(table, path)
        if (counts := table.get("runs")) and counts["done"] < counts["planned"]:
            unfinished.append(f"{path.name}: {counts['done']} of {counts['planned']} runs")
    for path, values in kept_files(folder):
        if "method" in values and "steps" in values:
            result = read_text_record(json.dumps(values), KeptResultRecord, str(path))
            single.append(_row_of_run(result, path))
    rows += _over_seeds(sorted(single, key=lambda row: row.seeds))
    if not rows:
        raise RecallsegError(f"{folder} holds no results of `recallseg table` or `recallseg run`.")
    shown = _one_each(row for row in rows if not row.chose_settings)
    left_out = {_why_not(row, shown): None for row in rows if row not in shown}
    stepwise = [row for row in rows if row.steps and not row.chose_settings]
    by_step = {(row.task, row.label): row.steps for row in _one_each(stepwise)}
    return Kept(tuple(sorted(shown, key=_place)), tuple(left_out), tuple(unfinished), by_step)


def _place(row: KeptRow) -> int:
    """The rows of Table 1 come first, in its order; all others as they are in their files."""
    order = list(paper()["table_1"])
    return order.index(row.label) if row.label in order else len(order)


def _rows_of_table(table: TableRecord, path: Path) -> Iterator[KeptRow]:
    words = ["recallseg", "table", f"tables/{table['table']}.yaml", *table["overrides"]]
    for cell in table["cells"]:
        settings = table.get("settings", {}) | cell.get("settings", {})
        dataset = settings.get("data.name") or _dataset(cell["runs"][0])
        values: Any = cell
        yield KeptRow(
            Task(dataset, cell["scenario"], cell["setup"]),
            cell["row"],
            {
                kind: _value(values[kind], values[f"{kind}_spread"])
                for kind in ("old", "new", "all")
            },
            tuple(cell["seeds"]),
            (shlex.join(words),),
            settings,
            path.name,
            _steps(scores.get("steps", []) for scores in cell.get("scores", [])),
        )


def _row_of_run(result: KeptResultRecord, path: Path) -> KeptRow:
    task = Task(result["dataset"], result["scenario"], result["setup"])
    configuration = path.stem.removeprefix(f"{task.dataset}-{task.scenario}-{task.setup}-")
    configuration = configuration.removesuffix(f"-s{result['seed']}")
    known = [name for name in CONFIGURATIONS if f"{configuration}-".startswith(f"{name}-")]
    name = max(known, key=len, default=configuration)
    variation = configuration.removeprefix(name).strip("-")
    label = CONFIGURATIONS.get(name, name) + (f", {variation}" if variation else "")
    command = () if variation else (_command(task, configuration, result["seed"]),)
    means = result["steps"][-1]["miou"]
    return KeptRow(
        task,
        result.get("row", label),
        {kind: _value(means[kind], None) for kind in TRIPLE},
        (result["seed"],),
        (result["command"],) if "command" in result else command,
        result.get("settings", {}),
        path.name,
        _steps([[step["miou"]["all"] for step in result["steps"]]]),
    )


def _command(task: Task, configuration: str, seed: int) -> str:
    """What the name of a file says of how it was made, where the file itself does not."""
    words = ["recallseg", "run", f"configs/{task.dataset}/{configuration}.yaml"]
    if task.scenario != "15-1":
        words.append(f"scenario.spec={task.scenario}")
    if task.setup != "disjoint":
        words.append(f"scenario.setup={task.setup}")
    return shlex.join([*words, *([f"seed={seed}"] if seed else [])])


def _over_seeds(rows: list[KeptRow]) -> list[KeptRow]:
    """Runs that differ only in their seed as one row; a second run of a seed stays by itself."""
    groups: dict[str, list[KeptRow]] = {}
    for row in rows:
        again = sum(row.seeds == other.seeds for other in groups.get(_same(row), []))
        groups.setdefault(f"{_same(row)} {again}" if again else _same(row), []).append(row)
    return [
        replace(
            group[0],
            scores={
                kind: value_of(_mean(row.scores[kind]) for row in group) for kind in group[0].scores
            },
            seeds=tuple(seed for row in group for seed in row.seeds),
            commands=tuple(command for row in group for command in row.commands),
            file=", ".join(row.file for row in group),
            steps=_steps([_mean(score) for score in row.steps] for row in group),
        )
        for group in groups.values()
    ]


def _mean(score: Value | None) -> float | None:
    return score.mean if score else None


def _steps(runs: Iterable[Sequence[float | None]]) -> tuple[Value | None, ...]:
    """A score after each step over seeds, where all of them say it."""
    every = list(runs)
    shortest = min(map(len, every), default=0)
    return tuple(value_of(run[step] for run in every) for step in range(shortest))


def _same(row: KeptRow) -> str:
    return f"{row.label}, {row.task}, {row.settings}"


def _dataset(run: str) -> str:
    """The dataset of a run by its name, for tables that do not say."""
    return max((name for name in DATASETS if run.startswith(f"{name}-")), key=len, default="")


def _value(mean: float | None, spread: float | None) -> Value | None:
    return None if mean is None else Value(mean, spread)


def _one_each(rows: Iterable[KeptRow]) -> list[KeptRow]:
    """Of rows with the same name in the same column the one with the most seeds."""
    best: dict[tuple[Task, str], KeptRow] = {}
    for row in rows:
        key = (row.task, row.label)
        if key not in best or len(row.seeds) > len(best[key].seeds):
            best[key] = row
    return list(best.values())


def _why_not(row: KeptRow, shown: list[KeptRow]) -> str:
    if row.chose_settings:
        return f"{row.file}: measured on held-out training photos, to choose settings on"
    other = next(each for each in shown if (each.task, each.label) == (row.task, row.label))
    return f"{row.file}: {row.label}, {row.task}, which is shown from {other.file}"
