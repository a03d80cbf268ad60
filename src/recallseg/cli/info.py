"""`recallseg info`: the life of a model."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

SCORES = ("old", "new", "all")
"""The scores that the table has room for; JSON has all."""


def info(
    model_dir: Annotated[Path, typer.Argument(help="A folder that `recallseg run` made.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Tell the life of a model: its steps, scores and replay sources, and whether it keeps photos.

    Photos are counted, where the folder knows how many a step learned from.
    """
    from recallseg.report.life import life

    found = life(model_dir)
    typer.echo(json.dumps(found, indent=2)) if as_json else _show(found)


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console()
    console.print(_steps(found), markup=False)
    if found["replay"]:
        console.print(_replay(found["replay"]), markup=False)
    state = "finished" if found["finished"] else "unfinished"
    for line in (
        f"{state}; {_size(found['bytes'])} on disk, encoder {found['encoder']}",
        _about_photos(found),
    ):
        console.print(line, highlight=False, markup=False)


def _steps(found: dict[str, Any]) -> Any:  # noqa: ANN401
    from rich.table import Table

    words = (found[key] for key in ("method", "dataset", "scenario", "setup"))
    title = f"{' '.join(words)}, seed {found['seed']}"
    headings = [f"mIoU {name}" for name in SCORES]
    table = Table("step", "new classes", "photos", "size", *headings, title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    for step in found["steps"]:
        photos = "–" if step["photos"] is None else f"{step['photos']:,}"
        size = _size(step["bytes"]) if step["learned"] else "not learned"
        values = [_score((step["miou"] or {}).get(name)) for name in SCORES]
        table.add_row(str(step["step"]), ", ".join(step["classes"]), photos, size, *values)
    return table


def _replay(sources: list[dict[str, Any]]) -> Any:  # noqa: ANN401
    from rich.table import Table

    table = Table("replay source", "licence", "images", "used", title="replay, at the last step")
    for each in sources:
        licence = each["licence"] or "not stated"
        table.add_row(each["source"], licence, f"{each['images']:,}", f"{each['used']:,}")
    return table


def _about_photos(found: dict[str, Any]) -> str:
    if not found["keeps_photos"]:
        return "keeps no training photos"
    number = sum(step["stored_photos"] for step in found["steps"])
    return f"KEEPS TRAINING PHOTOS: {number:,} of them are in step-*/samples/"


def _size(number: int) -> str:
    return f"{number / 2**20:,.1f} MiB"


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
