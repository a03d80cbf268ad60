"""The tables of a report, in the paper's layouts, with its numbers beside ours."""

from collections.abc import Iterator
from typing import Literal

from recallseg.paper import COUNTS_BACKGROUND_AS_OLD, TRIPLE, paper, table_1
from recallseg.report.runs import Run, Task
from recallseg.report.series import Series, Value, joint_of, settings_except, value_of
from recallseg.report.tables import Cell, Row, Table

Tasks = dict[Task, list[Series]]

ABLATION = {
    "Inpainting": "Bgr inp.",
    "GAN only": "GAN",
    "Web only": "Web",
    "RECALL (GAN)": "GAN+inp.",
    "RECALL (Web)": "Web+inp.",
}
"""The rows of the ablation: our names and the paper's."""


REPLAYS = ("none", "naive (GAN)", "naive (Web)", "ours (GAN)", "ours (Web)")
"""The supplement's columns for other methods with replay."""

THE_PAPERS_NUMBERS = (
    "old and new leave the background out; all counts it. The paper's numbers are of the full VOC "
    "2012 at its own size with a ResNet-101: compare the order of the rows, not the values. Its "
    f"rows {', '.join(COUNTS_BACKGROUND_AS_OLD)} count the background as old."
)


def initial_classes(task: Task) -> int:
    """The number of classes learned at step 0."""
    return int(task.scenario.split("-")[0])


def main_table(tasks: Tasks) -> Table:
    """Table 1: old, new and all at the end, one group of columns per task."""
    sort_keys = {s.label: s.sort_key for column in tasks.values() for s in column}
    rows = []
    for label in sorted(sort_keys, key=lambda label: sort_keys[label]):
        ours: list[Cell] = []
        theirs: list[Cell] = []
        for task, column in tasks.items():
            series = next((s for s in column if s.label == label), None)
            joint = series or (joint_of(tasks, task) if label == "Joint" else None)
            ours += _triple(joint, initial_classes(task))
            theirs += _paper_triple(label, task)
        rows.append(Row(label, tuple(ours)))
        if any(cell is not None for cell in theirs):
            rows.append(Row(label, tuple(theirs), paper=True))
    return Table(
        "mIoU after the last step",
        TRIPLE * len(tasks),
        tuple(rows),
        tuple((str(task), 3) for task in tasks),
        _note(tasks),
    )


def _triple(series: Series | None, initial: int) -> list[Cell]:
    if series is None:
        return [None] * len(TRIPLE)
    return [series.final(kind, initial if series.first.is_joint else None) for kind in TRIPLE]


def _paper_triple(label: str, task: Task) -> list[Cell]:
    numbers = table_1(label, task.scenario, task.setup) if task.dataset.startswith("voc") else None
    return [Value(numbers[kind]) if numbers else None for kind in TRIPLE]


def _note(tasks: Tasks) -> str:
    if not any(task.dataset.startswith("voc") for task in tasks):
        return "old and new leave the background out; all counts it, unless it is void."
    return THE_PAPERS_NUMBERS


def share_of_joint(tasks: Tasks, task: Task, series: Series) -> float | None:
    """A method's mIoU in percent of joint training's."""
    joint = joint_of(tasks, task)
    bound = joint.final("all") if joint else None
    reached = series.final("all")
    if reached is None or bound is None or series.first.is_joint or not bound.mean:
        return None
    return 100 * reached.mean / bound.mean


def rounds(task: Task, all_series: list[Series]) -> Iterator[Table]:
    """The supplement's tables per round: the newest classes, and all, after each step."""
    incremental = [series for series in all_series if len(series.first.steps) > 1]
    if not incremental:
        return
    steps = range(1, max(len(series.first.steps) for series in incremental))
    names = [_added(incremental[0].first, step) for step in steps]
    kinds: dict[str, tuple[Literal["iou", "pixel_accuracy"] | None, str]] = {
        "pixel accuracy of the newest class": ("pixel_accuracy", "PA (new)"),
        "IoU of the newest class": ("iou", "IoU (new)"),
        "mIoU of all classes so far": (None, "mIoU (all)"),
    }
    for title, (key, paper_key) in kinds.items():
        rows = []
        for series in incremental:
            rows.append(Row(series.label, tuple(_newest(series, step, key) for step in steps)))
            theirs = paper()["per_round"][paper_key].get(series.label)
            if theirs and (task.scenario, task.setup) == ("10-1", "disjoint"):
                cells = tuple(Value(number) for number in theirs[: len(steps)])
                rows.append(Row(series.label, cells, paper=True))
        yield Table(title, tuple(names), tuple(rows))


def _added(run: Run, step: int) -> str:
    return f"{step}: {run.added(step, 2)}"


def _newest(series: Series, step: int, key: Literal["iou", "pixel_accuracy"] | None) -> Cell:
    if key is None:
        return series.after(step, "all")
    runs = [run for run in series.runs if len(run.steps) > step]
    return value_of(
        run.steps[step][key][name] for run in runs for name in run.steps[step]["classes"]
    )


def ablation(tasks: Tasks) -> Table | None:
    """The mIoU with inpainting and each source, alone and together."""
    rows = []
    for label, paper_label in ABLATION.items():
        columns = [next((s for s in tasks[task] if s.label == label), None) for task in tasks]
        if any(columns):
            rows.append(Row(label, tuple(s.final("all") if s else None for s in columns)))
            theirs = [
                paper()["ablation"][paper_label].get(task.scenario, {}).get(task.setup)
                if task.dataset.startswith("voc")
                else None
                for task in tasks
            ]
            if any(theirs):
                cells = tuple(Value(number) if number else None for number in theirs)
                rows.append(Row(label, cells, paper=True))
    if len([row for row in rows if not row.paper]) < 2:
        return None
    return Table("What each part brings (mIoU all)", tuple(map(str, tasks)), tuple(rows))


def replay_on_top(task: Task, all_series: list[Series]) -> Table | None:
    """The supplement's table of other methods with replay: none, naive and ours."""
    by_label = {series.label: series for series in all_series}
    bases = list(dict.fromkeys(label.split(" + ")[0] for label in by_label if " + " in label))
    rows = []
    for base in bases:
        labels = [base, *(f"{base} + {column}" for column in REPLAYS[1:])]
        reached = [by_label[label].final("all") if label in by_label else None for label in labels]
        rows.append(Row(base, tuple(reached)))
        theirs = paper()["replay_on_competitors"].get(base)
        if theirs and (task.scenario, task.setup) == ("15-1", "disjoint"):
            cells = tuple(Value(theirs[column]) for column in REPLAYS)
            rows.append(Row(base, cells, paper=True))
    title = f"Other methods with replay (mIoU all), {task}"
    return Table(title, REPLAYS, tuple(rows)) if rows else None


def pre_training(task: Task, all_series: list[Series]) -> Table | None:
    """Runs that differ only in the weights that the encoder started from (supplement)."""
    alike: dict[str, list[Series]] = {}
    for series in all_series:
        alike.setdefault(settings_except(series.first, "model.weights"), []).append(series)
    rows = []
    for starts in alike.values():
        if len(starts) > 1:
            rows += [_row_of_start(task, series) for series in starts]
            rows += _paper_starts(task, starts[0])
    return Table(f"Where the encoder started, {task}", TRIPLE, tuple(rows)) if rows else None


def _row_of_start(task: Task, series: Series) -> Row:
    cells = _triple(series, initial_classes(task))
    return Row(f"{series.name}, {series.first.config.model.weights}", tuple(cells))


def _paper_starts(task: Task, series: Series) -> list[Row]:
    starts = paper()["pre_training"].get(series.first.source, {})
    if series.first.config.method.name != "recall" or not task.dataset.startswith("voc"):
        return []
    return [
        Row(f"{series.name}, {start}", tuple(map(Value, numbers)), paper=True)
        for start, scenarios in starts.items()
        if (numbers := scenarios.get(task.scenario, {}).get(task.setup))
    ]


def class_mapping(run: Run, mapping: dict[str, list[tuple[int, str, float]]]) -> Table:
    """The generator classes that each of our classes is mapped to; for VOC beside the paper's."""
    theirs = paper()["class_mapping"] if run.config.data.name.startswith("voc") else {}
    rows = []
    for label, matches in mapping.items():
        ours = [f"{name} ({score:.2f})" for _, name, score in matches[:3]]
        cells: list[Cell] = [*ours, *[None] * (3 - len(ours))]
        if theirs:
            cells.append(", ".join(theirs.get(label, ())) or None)
        rows.append(Row(label, tuple(cells)))
    columns = ("first", "second", "third", *(["the paper's"] if theirs else []))
    return Table("Class mapping", columns, tuple(rows))
