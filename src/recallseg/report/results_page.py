"""The page of kept results: the paper's tables beside ours, and what people say of them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from recallseg.errors import RecallsegError, unknown_name
from recallseg.files import read_text
from recallseg.paper import NOTES, paper
from recallseg.report.kept import Kept, read_kept
from recallseg.report.kept_overview import at_a_glance, places
from recallseg.report.kept_tables import BOUND, TABLES, Column
from recallseg.report.making import how_made
from recallseg.report.results import THE_PAPERS_NUMBERS
from recallseg.report.runs import Task
from recallseg.report.tables import to_markdown

NOTES_FILE = "notes.md"
"""What people wrote under the tables, each paragraph under a heading that names its table. Its
links lead on from the page, which lies beside the folder."""


def results_page(folder: Path, command: str) -> str:
    """The page as Markdown, from the JSON files in a folder and the notes beside them."""
    kept, notes = read_kept(folder), read_notes(folder / NOTES_FILE)
    used: list[str] = []

    def noted(name: str) -> list[str]:
        used.append(name)
        return [notes[name], ""] if name in notes else []

    lines = [*_introduction(command, folder), *noted("all")]
    for dataset in sorted({row.task.dataset for row in kept.rows}, reverse=True):
        columns = _columns(kept, dataset)
        lines += [f"## `{dataset}`", "", *noted(dataset), to_markdown([at_a_glance(columns)])]
        if table := places(columns):
            lines += [to_markdown([table]), *noted(f"{dataset}: places")]
        for column in columns:
            for kind, make in TABLES.items():
                if table := make(column):
                    lines += [to_markdown([table]), *noted(f"{column.task}: {kind}")]
        lines += how_made([row for row in kept.rows if row.task.dataset == dataset])
    lines += _appendix("Not on this page", kept.left_out)
    lines += _appendix("Tables that are not finished", kept.unfinished)
    lines += _appendix("Where the paper's tables contradict themselves", NOTES)
    for name in notes:
        if name not in used:
            raise unknown_name(f"table in {folder / NOTES_FILE}", name, used)
    return "\n".join(lines).rstrip() + "\n"


def read_notes(path: Path) -> dict[str, str]:
    """Paragraphs by the heading above them; a folder without notes has none."""
    if not path.is_file():
        return {}
    _, *parts = re.split(r"^## +", read_text(path), flags=re.MULTILINE)
    notes: dict[str, str] = {}
    for part in parts:
        heading, _, text = part.partition("\n")
        if heading.strip() in notes:
            raise RecallsegError(f"{path} has the heading '{heading.strip()}' twice; join them.")
        notes[heading.strip()] = text.strip().replace("](../", "](")
    return notes


def _columns(kept: Kept, dataset: str) -> list[Column]:
    order = list(paper()["table_1"][BOUND])
    tasks = {row.task for row in kept.rows if row.task.dataset == dataset}

    def place(task: Task) -> tuple[int, str, str]:
        known = order.index(task.scenario) if task.scenario in order else len(order)
        return known, task.scenario, task.setup

    return [Column(kept, task) for task in sorted(tasks, key=place)]


def _introduction(command: str, folder: Path) -> list[str]:
    return [
        "# Results",
        "",
        f"Written by `{command}` from the JSON files in `{folder.as_posix()}`; do not edit it. The "
        f"paragraphs under the tables are written by people, in `{NOTES_FILE}` there.",
        "",
        f"mIoU in percent after the last step, of one seed, or mean ± standard deviation. "
        f"{THE_PAPERS_NUMBERS} `of Joint` is a share of joint training's `all`, here and in the "
        "paper. The rank correlation is Spearman's, over the `all` of the rows that both have, "
        "joint training left out: 1 is the paper's order.",
        "",
    ]


def _appendix(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from (f"## {title}", "", *(f"- {line}" for line in lines), "")
