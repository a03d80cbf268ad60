"""What `recallseg learn` shows: what a step brought, and what one would do."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from recallseg.runs.records import ComparisonRecord, ConfusionRecord, StepRecord
from recallseg.runs.taught_folder import TaughtFolder


def show_step(model: Path) -> None:
    """The scores of a model's last step, beside those before it on the same pixels."""
    folder = TaughtFolder.existing(model)
    last = folder.finished_steps()[-1]
    scores, comparison, console = folder.scores(last), folder.comparison(last), Console()
    if scores is None:
        console.print(
            f"Step {last} was not measured; --val FOLDER measures on photos with masks of all "
            "classes.",
            highlight=False,
        )
        return
    table = _scores(scores) if comparison is None else _before_and_after(scores, comparison)
    console.print(table, markup=False)
    for sentence in _confusions(scores.get("confusions", [])):
        console.print(sentence, highlight=False, markup=False)


def _scores(scores: StepRecord) -> Table:
    table = _table("class", "IoU", title=f"after step {scores['step']}")
    for name, value in scores["iou"].items():
        table.add_row(name, number(value))
    table.add_section()
    table.add_row("mean", number(scores["miou"]["all"]))
    return table


def _before_and_after(scores: StepRecord, comparison: ComparisonRecord) -> Table:
    """Before and after on the same pixels; the last column is of all pixels, as usual."""
    title = f"step {scores['step']}, IoU on {comparison['photos']} photos"
    table = _table("class", "before", "after", "change", "on all pixels", title=title)
    for name, value in scores["iou"].items():
        before, after = comparison["before"].get(name), comparison["after"].get(name)
        moved = None if before is None or after is None else after - before
        change = "–" if moved is None else f"{moved:+.1f}"
        label = f"{name} (new)" if name in scores["classes"] else name
        table.add_row(label, number(before), number(after), change, number(value))
    table.add_section()
    known = (comparison["before"], comparison["after"])
    table.add_row("mean", *map(_mean, known), "", number(scores["miou"]["all"]))
    if scores["classes"]:
        table.caption = "before, after: without the pixels of the new classes"
    return table


def _mean(values: dict[str, float | None]) -> str:
    numbers = [value for value in values.values() if value is not None]
    return number(sum(numbers) / len(numbers) if numbers else None)


def _confusions(confusions: list[ConfusionRecord]) -> list[str]:
    return [
        f"{each['share']:.0f} % of {each['true']} is called {each['seen']}" for each in confusions
    ]


def show_plan(plan: dict[str, Any]) -> None:
    """What a step would do, in tables."""
    console = Console()

    def say(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    verb = "refines" if plan["refines"] else "adds"
    say(f"{plan['model']}: step {plan['step']} {verb} {', '.join(plan['classes'])}")
    for note in plan["notes"]:
        say(note)
    console.print(_images(plan), markup=False)
    for reason, count in plan["photos"]["left_out"].items():
        say(f"{count} photos are left out: they {reason}")
    source = plan["replay"]["source"]
    if plan["replay"]["by_class"]:
        say(f"replay images come from: {source or 'nowhere; old classes may be forgotten'}")
    measured = plan["measured_on"]
    say(f"measured on {measured} photos" if measured else "not measured: no --val")
    trainings = ", ".join(f"{name} {count:,}" for name, count in plan["iterations"].items())
    duration = timedelta(seconds=plan["seconds"])
    say(f"iterations: {trainings}; about {duration} on this machine as it is now, without fetching")
    sizes = [plan[key] / 2**20 for key in ("bytes_meanwhile", "bytes_kept")]
    say("disk: {:,.0f} MiB meanwhile in the cache, {:,.1f} MiB kept".format(*sizes))
    console.print(_settings(plan["settings"]), markup=False)


def _images(plan: dict[str, Any]) -> Table:
    table = _table("class", "photos", "replay images")
    for name, count in plan["photos"]["by_class"].items():
        table.add_row(name, str(count), "–")
    most = plan["replay"]["most_per_class"]
    for name, count in plan["replay"]["by_class"].items():
        table.add_row(name, "–", f"up to {most}" if count is None else str(count))
    return table


def _settings(settings: dict[str, dict[str, Any]]) -> Table:
    table = Table("setting", "value", "from", title="settings in force")
    for key, about in settings.items():
        table.add_row(key, str(about["value"]), about["from"])
    return table


def _table(first: str, *others: str, title: str | None = None) -> Table:
    table = Table(first, *others, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def number(value: float | None) -> str:
    """A score with one digit, or a dash."""
    return "–" if value is None else f"{value:.1f}"
