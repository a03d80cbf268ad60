"""The paper's tables with kept results beside its numbers, for one column of Table 1 at a time."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from recallseg.paper import TRIPLE, paper, table_1
from recallseg.report.kept import Kept
from recallseg.report.ranks import correlation_of
from recallseg.report.results import ABLATION, REPLAYS
from recallseg.report.runs import Task
from recallseg.report.series import Value
from recallseg.report.tables import Cell, Row, Table

BOUND = "Joint"

Scores = dict[str, float | None]
"""The paper's `all` by row; None where it has none."""


@dataclass(frozen=True)
class Column:
    """One split in one setup of one dataset."""

    kept: Kept
    task: Task

    def ours(self, label: str) -> dict[str, Value | None]:
        """The scores of a row; all None where it was not measured."""
        row = self.kept.find(self.task, label)
        return row.scores if row else dict.fromkeys(TRIPLE)

    def labels(self) -> list[str]:
        """All rows that were measured."""
        return [row.label for row in self.kept.rows if row.task == self.task]

    def share(self, score: Value | None) -> str | None:
        """A score in percent of joint training's."""
        joint = self.kept.joint(self.task)
        return _percent(score.mean if score else None, joint.scores["all"] if joint else None)

    def theirs(self, label: str) -> dict[str, float]:
        """The paper's scores of a row in Table 1; empty where it has none."""
        return table_1(label, self.task.scenario, self.task.setup) or {}

    def their_share(self, score: float | None) -> str | None:
        """A score of the paper's in percent of its joint training's."""
        return _percent(score, _value(self.theirs(BOUND).get("all")))

    def pairs(self, theirs: Scores) -> dict[str, tuple[float, float]]:
        """Our `all` and the paper's of the rows that both have, joint training left out."""
        return {
            label: (ours.mean, score)
            for label, score in theirs.items()
            if label != BOUND and score is not None and (ours := self.ours(label)["all"])
        }

    def table_1_scores(self) -> Scores:
        """The paper's `all` of every row of Table 1."""
        return {label: self.theirs(label).get("all") for label in paper()["table_1"]}


def _table_1(column: Column) -> Table | None:
    rows = []
    for label in paper()["table_1"]:
        ours, theirs = column.ours(label), column.theirs(label)
        if ours["all"] is not None:
            cells: list[Cell] = [*(ours[kind] for kind in TRIPLE), column.share(ours["all"])]
            cells += [_value(theirs.get(kind)) for kind in TRIPLE]
            rows.append(Row(label, (*cells, column.their_share(theirs.get("all")))))
    heads = (*TRIPLE, "of Joint") * 2
    note = _note(column, column.table_1_scores())
    sides = (("here:", 4), ("paper:", 4))
    return Table(f"Table 1: {column.task}", heads, tuple(rows), sides, note) if rows else None


def _ablation(column: Column) -> Table | None:
    if not {"Inpainting", "GAN only", "Web only"} & {*column.labels()}:
        return None
    theirs: Scores = {
        label: paper()["ablation"][name].get(column.task.scenario, {}).get(column.task.setup)
        for label, name in ABLATION.items()
    }
    return _beside(f"What each part brings: {column.task}", column, theirs)


def _rounds(column: Column) -> Table | None:
    """The supplement's mIoU per round, of all classes so far; it has those of one column."""
    if (column.task.scenario, column.task.setup) != ("10-1", "disjoint"):
        return None
    theirs: dict[str, list[float]] = paper()["per_round"]["mIoU (all)"]
    rounds = range(1, 1 + max(map(len, theirs.values())))
    rows: list[Row] = []
    pairs: list[list[tuple[float, float]]] = [[] for _ in rounds]
    for label in paper()["table_1"]:
        steps = column.kept.by_step.get((column.task, label), ())[1:]
        numbers = theirs.get(label, [])
        if len(steps) == len(rounds):
            rows.append(Row(label, steps))
            rows += [Row(label, tuple(map(Value, numbers)), paper=True)] if numbers else []
            for each, ours, number in zip(pairs, steps, numbers, strict=False):
                each.extend([(ours.mean, number)] if ours else [])
    orders = [value for each in pairs if (value := correlation_of(each)) is not None]
    note = ""
    if orders:
        ends = f"{min(orders):.2f} to {max(orders):.2f}"
        mean = statistics.mean(orders)
        note = (
            f"Rank correlation with the paper over {len(pairs[0])} rows: {ends} after a step, "
            f"{mean:.2f} on average."
        )
    title = f"mIoU of all classes so far, by step: {column.task}"
    return Table(title, tuple(map(str, rounds)), tuple(rows), note=note) if rows else None


def _interleaving(column: Column) -> Table | None:
    return _variations("Interleaving, replayed to new samples", column, ", ratio ")


def _helpers(column: Column) -> Table | None:
    words = (", helper ", ", one shared helper", ", the model itself")
    return _variations("Who labels replay images", column, *words)


def _variations(title: str, column: Column, *words: str) -> Table | None:
    """Rows whose names have one of these words; the paper has no numbers of such."""
    labels = [label for label in column.labels() if any(word in label for word in words)]
    return _beside(f"{title}: {column.task}", column, dict.fromkeys(labels))


def _replay(column: Column) -> Table | None:
    if not any(" + " in label for label in column.labels()):
        return None
    known = (column.task.scenario, column.task.setup) == ("15-1", "disjoint")
    theirs: Scores = {}
    for base, scores in paper()["replay_on_competitors"].items():
        for kind in REPLAYS:
            label = base if kind == REPLAYS[0] else f"{base} + {kind}"
            theirs[label] = scores[kind] if known else None
    return _beside(f"Other methods with replay: {column.task}", column, theirs)


def _others(column: Column) -> Table | None:
    """Rows that no table of the paper has; their settings differ, so none is called the best."""
    others = [make(column) for make in TABLES.values() if make is not _others]
    shown = {row.label for table in others if table for row in table.rows}
    rows = [
        Row(label, tuple(None if score is None else str(score) for score in ours.values()))
        for label in column.labels()
        if label not in shown and (ours := column.ours(label))
    ]
    return Table(f"Also measured: {column.task}", TRIPLE, tuple(rows)) if rows else None


TABLES: dict[str, Callable[[Column], Table | None]] = {
    "table-1": _table_1,
    "rounds": _rounds,
    "ablation": _ablation,
    "interleaving": _interleaving,
    "helpers": _helpers,
    "replay": _replay,
    "others": _others,
}
"""By the names that notes call them."""


def _beside(title: str, column: Column, theirs: Scores) -> Table | None:
    """Our scores of some rows, and the paper's `all` where it has any."""
    rows = []
    compared = any(score is not None for score in theirs.values())
    for label, score in theirs.items():
        ours = column.ours(label)
        if ours["all"] is not None:
            cells: list[Cell] = [*(ours[kind] for kind in TRIPLE), column.share(ours["all"])]
            cells += [_value(score), column.their_share(score)] if compared else []
            rows.append(Row(label, tuple(cells)))
    heads = (*TRIPLE, "of Joint", *(("paper: all", "paper: of Joint") if compared else ()))
    return Table(title, heads, tuple(rows), note=_note(column, theirs)) if rows else None


def _note(column: Column, theirs: Scores) -> str:
    """How far the order of the rows is the paper's, and which of them are missing here."""
    pairs = column.pairs(theirs)
    correlation = correlation_of(pairs.values())
    joint = column.kept.joint(column.task)
    missing = [label for label in theirs if column.ours(label)["all"] is None]
    sentences = []
    if correlation is not None:
        sentences.append(
            f"Rank correlation with the paper over {len(pairs)} rows: {correlation:.2f}."
        )
    if all(score is None for score in theirs.values()):
        sentences.append("The paper prints no numbers of these.")
    if joint and joint.task != column.task:
        split = f"{joint.task.scenario} {joint.task.setup}"
        sentences.append(f"Shares are of joint training as measured in {split}.")
    if missing:
        sentences.append(f"Not measured here: {', '.join(missing)}.")
    return " ".join(sentences)


def _value(score: float | None) -> Value | None:
    return None if score is None else Value(score)


def _percent(score: float | None, bound: Value | None) -> str | None:
    if score is None or bound is None or not bound.mean:
        return None
    return f"{100 * score / bound.mean:.0f} %"
