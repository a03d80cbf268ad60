"""`recallseg replay`: look at what replay would use."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recallseg.errors import RecallsegError

if TYPE_CHECKING:
    from recallseg.replay.mapping import Match

app = typer.Typer(help="Look at what replay would use.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `map` a subcommand."""


@app.command("map")
def show_mapping(
    config: Annotated[Path, typer.Argument(help="A YAML file.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value …")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show which of the generator's classes each class is mapped to, beside the paper's choice."""
    from recallseg.config import load_config

    loaded = load_config(config, overrides or [])
    from rich.console import Console
    from rich.table import Table

    from recallseg.engine.old_classes.lessons import lesson_of
    from recallseg.engine.session import Session
    from recallseg.engine.session.data import RunData
    from recallseg.gan.classifier import imagenet_names
    from recallseg.gan.own_classifier import build_classifier
    from recallseg.replay.gan_source import GanSettings
    from recallseg.replay.mapping import PAPER_MAPPING, Match, agrees_with_paper
    from recallseg.replay.step_mapping import map_step

    data = RunData.open(loaded)
    session = Session.open(loaded, None)
    settings = loaded.replay.settings
    if not isinstance(settings, GanSettings):
        raise RecallsegError("Only a generator has classes to map to; set replay.source=gan.")
    classifier = build_classifier(settings.classifier)
    mapping: dict[str, tuple[Match, ...]] = {}
    for step in data.scenario:
        lesson = lesson_of(session, data, step, memory={})
        mapping |= map_step(lesson, classifier, settings, mapping)
    ordered = {name: mapping[name] for name in data.scenario.names(data.scenario.order)}
    if as_json:
        answer = {
            name: [[match.name, round(match.score, 4)] for match in matches]
            for name, matches in ordered.items()
        }
        typer.echo(json.dumps(answer, indent=2))
        return
    if classifier.names != imagenet_names():
        _show_own(ordered)
        return
    table = Table("class", "1st", "2nd", "3rd", "the paper's 1st", "is our")
    ranks = []
    for name, matches in ordered.items():
        words = [f"{match.name} {match.score:.3f}" for match in matches]
        paper = PAPER_MAPPING.get(name, ("",))[0]
        rank = next((i for i, m in enumerate(matches) if agrees_with_paper(name, m)), None)
        ranks.append(rank)
        ordinal = ("1st", "2nd", "3rd")[rank] if rank is not None else "–" if paper else ""
        table.add_row(name, *words, paper, ordinal)
    Console().print(table, markup=False)
    in_paper = sum(name in PAPER_MAPPING for name in ordered)
    firsts, listed = ranks.count(0), len(ranks) - ranks.count(None)
    typer.echo(
        f"the paper's first choice is our first: {firsts} of {in_paper}; in our top 3: "
        f"{listed} of {in_paper}"
    )


def _show_own(mapping: "Mapping[str, tuple[Match, ...]]") -> None:
    """The table for an own classifier, for which the paper has no choices."""
    from rich.console import Console
    from rich.table import Table

    table = Table("class", "1st", "2nd", "3rd")
    for name, matches in mapping.items():
        table.add_row(name, *(f"{match.name} {match.score:.3f}" for match in matches))
    Console().print(table, markup=False)
