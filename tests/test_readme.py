"""What the documents tell people to type exists."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from recallseg.cli.main import app
from recallseg.paper import TRIPLE
from recallseg.report.kept import read_kept
from recallseg.report.series import Value

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands() -> list[str]:
    found = []
    for page in PAGES:
        for block in re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text(), re.DOTALL):
            lines = [line.removeprefix("$ ").split(" #")[0] for line in block.splitlines()]
            found += [line for line in lines if line.startswith("recallseg ")]
    return sorted(set(found))


@pytest.mark.parametrize("line", commands())
def test_every_command_in_the_documents_can_be_parsed(line):
    command, words = get_command(app), shlex.split(line)[1:]
    with command.make_context("recallseg", list(words), resilient_parsing=False) as context:
        name, found, rest = command.resolve_command(context, words)  # type: ignore[attr-defined]
        while hasattr(found, "resolve_command") and rest:
            name, found, rest = found.resolve_command(context, rest)
        found.make_context(name, list(rest), parent=context)


def test_the_two_commands_are_in_the_makefile():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "lint", "format"} <= set(targets)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_documents_hold(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def table_rows(text, head):
    """The cells of the first table with this heading, without bold."""
    lines = text[text.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines]


def rounded(value):
    return "–" if value is None else f"{value:.1f}"


NAMED = {
    "(FT)": "FT",
    "Inpainting": "Inpainting",
    "generator": "RECALL (GAN)",
    "photo site": "RECALL (Web)",
    "Joint": "Joint",
}
"""Rows of the README's first table by a word of theirs."""


def test_the_first_table_is_that_of_its_file():
    text = (ROOT / "README.md").read_text()
    head = "| mIoU after the last step |"
    file = re.search(r"`(docs/results/table-[\w-]+\.json)`", text[text.index(head) :])[1]
    cells = {cell["row"]: cell for cell in json.loads((ROOT / file).read_text())["cells"]}
    rows = table_rows(text, head)
    assert len(rows) == len(NAMED)
    for (label, *numbers, share), (word, name) in zip(rows, NAMED.items(), strict=True):
        assert word in label
        found = cells[name]
        shown = [Value(found[kind], found[f"{kind}_spread"]) for kind in ("old", "new", "all")]
        assert numbers == [str(value) for value in shown], label
        if name != "Joint":
            assert share == f"{100 * found['all'] / cells['Joint']['all']:.0f} %", label


def results_of(command):
    """Scores, as the README prints them, that may stand beside a command: of every step of each
    file that the command's configuration, split, setup and seed name, and of their mean."""
    _, kind, path, *words = shlex.split(command)
    kept = read_kept(ROOT / "docs/results").rows
    if kind == "table":
        rows = [
            row for row in kept if shlex.join(["recallseg", kind, path, *words]) in row.commands
        ]
        return [[str(row.scores[each] or "–") for each in TRIPLE] for row in rows]
    settings = dict(word.split("=", 1) for word in words)
    seed = settings.pop("seed", "0")
    split = [settings.pop("scenario.spec", "15-1"), settings.pop("scenario.setup", "disjoint")]
    name = "-".join([Path(path).parent.name, *split, Path(path).stem])
    pattern = name + ("-.+" if settings else "") + ("" if seed == "0" else f"-s{seed}")
    found = []
    for file in (ROOT / "docs/results").glob("*.json"):
        if re.fullmatch(pattern, file.stem):
            record = json.loads(file.read_text())
            assert record.get("command", command) == command
            found += [step["miou"] for step in record["steps"]]
    printed = [[rounded(means[kind]) for kind in TRIPLE] for means in found]
    over_seeds = [row for row in kept if command in row.commands and len(row.seeds) > 1]
    return printed + [[str(row.scores[kind]) for kind in TRIPLE] for row in over_seeds]


def test_every_number_measured_so_far_is_in_a_committed_file():
    text = (ROOT / "README.md").read_text()
    rows = table_rows(text[text.index("## Measured so far") :], "| | command |")
    assert len(rows) > 3
    command = ""
    for label, how, *numbers in rows:
        command = how.strip("`") if how != "the same run" else command
        assert command.startswith(("recallseg run ", "recallseg table ")), label
        assert numbers in results_of(command), label
