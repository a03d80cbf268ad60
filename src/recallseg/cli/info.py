"""`recallseg info`: the history of a model."""

import json
from datetime import timedelta
from typing import Any

import typer

from recallseg.cli.arguments import AsJson, Model

SCORES = ("old", "new", "all")
"""The scores that the table has room for; JSON has all."""


def info(
    model: Model,
    as_json: AsJson = False,
) -> None:
    """Show a model's history: its steps, scores and replay sources, and whether it keeps photos.

    The number of photos per step is shown if the folder records it.
    """
    from recallseg.report.model_history import model_history

    history = model_history(model)
    typer.echo(json.dumps(history, indent=2)) if as_json else _show(history)


def _show(history: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console()
    console.print(_steps(history), markup=False)
    if history["replay"]:
        console.print(_replay(history["replay"]), markup=False)
    state = "finished" if history["finished"] else "unfinished"
    for line in (
        f"{state}; {_size(history['bytes'])} on disk, encoder {history['encoder']}",
        _about_work(history),
        _about_photos(history),
    ):
        console.print(line, highlight=False, markup=False)


def _steps(history: dict[str, Any]) -> Any:  # noqa: ANN401
    from rich.table import Table

    words = (history[key] for key in ("method", "dataset", "scenario", "setup"))
    title = f"{' '.join(words)}, seed {history['seed']}"
    headings = [f"mIoU {name}" for name in SCORES]
    table = Table("step", "new classes", "photos", "size", *headings, title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    for step in history["steps"]:
        photos = "–" if step["photos"] is None else f"{step['photos']:,}"
        size = _size(step["bytes"]) if step["learned"] else "not learned"
        values = [_score((step["miou"] or {}).get(name)) for name in SCORES]
        names = ", ".join(step["classes"]) or f"more of {', '.join(step['refined'])}"
        table.add_row(str(step["step"]), names, photos, size, *values)
    return table


def _replay(sources: list[dict[str, Any]]) -> Any:  # noqa: ANN401
    from rich.table import Table

    table = Table("replay source", "licence", "images", "used", title="replay, at the last step")
    for source in sources:
        licence = source["licence"] or "not stated"
        table.add_row(source["source"], licence, f"{source['images']:,}", f"{source['used']:,}")
    return table


def _about_work(history: dict[str, Any]) -> str:
    """How long it learned, at which size, and what it was measured on."""
    side, seconds = history["longer_side"], history["seconds"]
    words = [f"looks at photos at {side} px" if side else "looks at photos at their own size"]
    if seconds is not None:
        words.insert(0, f"learned for {timedelta(seconds=round(seconds))}")
    if history["measured_on"]:
        words.append(f"measured on {history['measured_on']}")
    return "; ".join(words)


def _about_photos(history: dict[str, Any]) -> str:
    if not history["keeps_photos"]:
        return "keeps no training photos"
    number = sum(step["stored_photos"] for step in history["steps"])
    return f"KEEPS TRAINING PHOTOS: {number:,} of them are in step-*/samples/"


def _size(number: int) -> str:
    return f"{number / 2**20:,.1f} MiB"


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
