"""How the rows of the page of kept results were made: seeds, commands, settings."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from recallseg.report.kept import KeptRow
from recallseg.runs.settings import other_settings, shared_settings


def how_made(rows: Sequence[KeptRow]) -> Iterator[str]:
    """A table of all rows of a dataset, and the settings that those share which say theirs."""
    dataset = rows[0].task.dataset
    told = [row.settings for row in rows if row.settings]
    shared = shared_settings(told)
    yield from (f"### How the rows were made: {dataset}", "")
    yield from ("| row | seeds | command | settings of its own |", "| --- | --- | --- | --- |")
    made: dict[tuple[str, tuple[str, ...], str], list[KeptRow]] = {}
    for row in rows:
        own = _words(other_settings(row.settings, shared)) if row.settings else "not recorded"
        made.setdefault((row.label, row.commands, own), []).append(row)
    for (label, commands, own), group in made.items():
        shown = "<br>".join(f"`{command}`" for command in commands) or "not recorded"
        cells = (label, _seeds(group), shown, own)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""
    if len(told) < len(rows):
        yield from ("Where settings are not recorded, they were those of their day.", "")
    if shared:
        yield from ("<details><summary>Settings of all rows that record theirs</summary>", "")
        lines = (f"{key}: {json.dumps(value)}" for key, value in shared.items())
        yield from ("<pre>" + escape("\n".join(lines)) + "</pre>", "", "</details>", "")


def _seeds(rows: Sequence[KeptRow]) -> str:
    columns: dict[tuple[int, ...], list[str]] = {}
    for row in rows:
        columns.setdefault(row.seeds, []).append(f"{row.task.scenario} {row.task.setup}")
    return "; ".join(
        f"{', '.join(map(str, seeds))} in {', '.join(names)}" for seeds, names in columns.items()
    )


def _words(settings: dict[str, Any]) -> str:
    return ", ".join(f"`{key}={json.dumps(value)}`" for key, value in settings.items()) or "none"
