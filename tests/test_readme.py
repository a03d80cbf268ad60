"""What the documents tell people to type exists."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from recallseg.cli.main import app

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
