"""One self-contained page over one or many runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from recallseg.config import dump_config
from recallseg.errors import RecallsegError
from recallseg.files import write_text
from recallseg.paper import NOTES
from recallseg.report import plots, results
from recallseg.report.galleries import Gallery, galleries_of
from recallseg.report.images import colour
from recallseg.report.kept_bytes import kept_megabytes
from recallseg.report.pictures import Example, Viewer
from recallseg.report.repeating import commands
from recallseg.report.results import Tasks, initial_classes, share_of_joint
from recallseg.report.runs import Run, Task, read_runs
from recallseg.report.series import Series, Value, joint_of, series_of, settings_except
from recallseg.report.tables import Table

CURVES = {"all": "all classes so far", "old": "first classes", "new": "later classes"}


@dataclass(frozen=True)
class Bar:
    """One method in the summary of a task."""

    label: str
    scores: dict[str, Value | None]
    share: float | None
    sentence: str
    keeps_photos: bool


@dataclass(frozen=True)
class Chapter:
    """Everything about one task."""

    task: Task
    bars: list[Bar]
    curves: dict[str, Markup]
    rounds: list[Table]
    heat: dict[str, "Heat"]
    examples: list[Example]
    why_no_examples: str
    channels: list[str]
    added: list[str]
    tables: list[Table]
    memory: Markup | None
    interleaving: Markup | None
    galleries: dict[str, list[Gallery]]


@dataclass(frozen=True)
class Heat:
    """IoU of each class after each step; None before it is learned."""

    columns: list[str]
    rows: dict[str, list[float | None]]


def write_report(paths: Sequence[Path], out: Path, title: str = "recallseg report") -> None:
    """Read run folders and write the page."""
    write_text(out, page(read_runs(paths), title))


def page(runs: Sequence[Run], title: str) -> str:
    """The page as text."""
    tasks = series_of(runs)
    environment = Environment(
        loader=PackageLoader("recallseg.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"colour": colour, "Value": Value}
    return environment.get_template("page.html").render(
        title=title,
        style=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
        main=results.main_table(tasks),
        ablation=results.ablation(tasks),
        chapters=[chapter(tasks, task) for task in tasks],
        unfinished=[(run.name, run.path.name, run.missing) for run in runs if run.missing],
        runs=[_details(run) for run in runs],
        notes=NOTES if any(task.dataset.startswith("voc") for task in tasks) else (),
    )


def tables(runs: Sequence[Run]) -> list[Table]:
    """All tables of a report, for other formats."""
    tasks = series_of(runs)
    candidates: list[Table | None] = [results.main_table(tasks), results.ablation(tasks)]
    for task, series in tasks.items():
        candidates += [*_extra_tables(task, series), *results.rounds(task, series)]
    return [table for table in candidates if table is not None]


def chapter(tasks: Tasks, task: Task) -> Chapter:
    """The part of the page about one task."""
    all_series = tasks[task]
    examples, why_no_examples = _examples(all_series)
    longest = max((series.first for series in all_series), key=lambda run: len(run.steps))
    added = [longest.added(step) for step in range(len(longest.classes["steps"]))]
    return Chapter(
        task=task,
        bars=[_bar(tasks, task, series) for series in all_series if series.first.steps],
        curves=dict(_curves(tasks, task, longest)),
        rounds=list(results.rounds(task, all_series)),
        heat={series.label: _heat(series.first) for series in all_series if series.first.steps},
        examples=examples,
        why_no_examples=why_no_examples,
        channels=longest.classes["channels"],
        added=["step 0", *(f"+ {names}" for names in added[1:])],
        tables=[table for table in _extra_tables(task, all_series) if table],
        memory=_memory(all_series),
        interleaving=_interleaving(all_series),
        galleries={s.label: g for s in all_series if (g := galleries_of(s.first))},
    )


def _bar(tasks: Tasks, task: Task, series: Series) -> Bar:
    initial, share = initial_classes(task), share_of_joint(tasks, task, series)
    kinds = ("old", "new", "all", "foreground")
    split = initial if series.first.is_joint else None
    scores = {kind: series.final(kind, split) for kind in kinds}
    result = series.first.result
    keeps = result is not None and result["keeps_photos"]
    return Bar(series.label, scores, share, _sentence(series, scores, share), keeps)


def _sentence(series: Series, scores: dict[str, Value | None], share: float | None) -> str:
    """What the numbers mean, for readers who do not know mIoU."""
    run, old, new = series.first, scores["old"], scores["new"]
    if run.is_joint:
        return f"{series.label} learned all classes at once from all photos: the upper bound."
    if old is None or new is None:
        return f"{series.label} is not finished: {run.missing or 'it has no scores'}."
    before = series.after(0, "old")
    retained = old.mean / before.mean if before and before.mean else 0
    words = "forgot" if retained < 0.2 else "lost much of" if retained < 0.8 else "kept"
    first = run.classes["initial"]
    count = len(run.classes["channels"]) - 1 - first
    sentence = (
        f"{series.label} {words} its first {first} classes ({before} before, {old} after) while it "
        f"learned {count} more ({new})"
    )
    return sentence + (f"; overall {share:.0f} % of joint training." if share is not None else ".")


def _curves(tasks: Tasks, task: Task, longest: Run) -> Iterator[tuple[str, Markup]]:
    steps = len(longest.steps)
    if steps < 2:
        return
    joint = joint_of(tasks, task)
    labels = ["step 0", *(longest.added(step, 2) for step in range(1, steps))]
    for kind, what in CURVES.items():
        curves: dict[str, list[float | None]] = {}
        for series in tasks[task]:
            if not series.first.is_joint:
                values = [series.after(step, kind) for step in range(steps)]
                curves[series.label] = [value.mean if value else None for value in values]
        if joint and (bound := joint.final(kind, initial_classes(task))):
            curves["Joint"] = [bound.mean] * steps
        yield what, Markup(plots.evolution(curves, labels, f"mIoU, {what}"))


def _heat(run: Run) -> Heat:
    columns = [f"{step['step']}" for step in run.steps]
    names = list(run.steps[-1]["iou"])
    return Heat(columns, {name: [step["iou"].get(name) for step in run.steps] for name in names})


def _examples(all_series: Sequence[Series]) -> tuple[list[Example], str]:
    try:
        viewer = Viewer(all_series)
        return [viewer.show(stem, rule) for stem, rule in viewer.choose()], ""
    except RecallsegError as error:
        return [], f"There are no pictures here: {error}"


def _extra_tables(task: Task, all_series: list[Series]) -> Iterator[Table | None]:
    yield results.replay_on_top(task, all_series)
    yield results.pre_training(task, all_series)
    for series in all_series:
        if mapping := series.first.folder.mapping:
            yield results.class_mapping(series.first, mapping)
            return


def _memory(all_series: Sequence[Series]) -> Markup | None:
    curves: dict[str, list[float]] = {}
    for series in all_series:
        curves |= kept_megabytes(series.first)
    if not curves:
        return None
    longest = max(map(len, curves.values()))
    run = next(series.first for series in all_series if len(series.first.steps) == longest)
    sizes = [len(names) for names in run.classes["steps"][:longest]]
    return Markup(plots.memory(curves, [sum(sizes[: k + 1]) for k in range(longest)]))


def _interleaving(all_series: Sequence[Series]) -> Markup | None:
    """mIoU over the ratio of old to new samples, of runs that differ in nothing else."""
    alike: dict[str, dict[float, float]] = {}
    for series in all_series:
        reached, run = series.final("all"), series.first
        if reached and run.source:
            points = alike.setdefault(settings_except(run, "replay.ratio"), {})
            points[run.config.replay.ratio] = reached.mean
    points = max(alike.values(), key=len, default={})
    if len(points) < 2:
        return None
    ratios = sorted(points)
    return Markup(plots.interleaving(ratios, [points[r] for r in ratios], "mIoU all"))


def _details(run: Run) -> dict[str, Any]:
    """The settings, time and versions of a run, and how to repeat it."""
    result: Any = run.result or {}
    return {
        "name": run.name,
        "folder": run.path.name,
        "seed": run.config.seed,
        "time": str(timedelta(seconds=round(result["seconds"]))) if "seconds" in result else "–",
        "memory": f"{result['peak_memory_mb']:.0f} MB" if "peak_memory_mb" in result else "–",
        "versions": ", ".join(f"{k} {v}" for k, v in result.get("versions", {}).items()) or "–",
        "command": "\n".join(commands(run)),
        "config": dump_config(run.config),
    }


def _asset(name: str) -> str:
    return (resources.files("recallseg.report") / "page" / name).read_text(encoding="utf-8")
