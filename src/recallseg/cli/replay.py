"""`recallseg replay`: look at what replay would bring."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recallseg.errors import RecallsegError

if TYPE_CHECKING:
    from recallseg.replay.mapping import Match

app = typer.Typer(help="Look at what replay brings.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `map` a subcommand."""


@app.command("map")
def show_mapping(
    config: Annotated[Path, typer.Argument(help="A YAML file.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value …")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show which of the generator's classes stands for each class, beside the paper's choice."""
    from rich.console import Console
    from rich.table import Table

    from recallseg.config import load_config
    from recallseg.engine.old_classes.lessons import lesson_of
    from recallseg.engine.session import Session
    from recallseg.engine.session.data import RunData
    from recallseg.gan.classifier import imagenet_names
    from recallseg.gan.own_classifier import build_classifier
    from recallseg.replay.gan_source import GanSettings
    from recallseg.replay.mapping import PAPER_MAPPING, Match, agrees_with_paper
    from recallseg.replay.step_mapping import map_step

    chosen = load_config(config, overrides or [])
    world = RunData.open(chosen)
    session = Session.open(chosen, None)
    settings = chosen.replay.settings
    if not isinstance(settings, GanSettings):
        raise RecallsegError("Only a generator has classes to map to; set replay.source=gan.")
    classifier = build_classifier(settings.classifier)
    mapping: dict[str, tuple[Match, ...]] = {}
    for step in world.scenario:
        lesson = lesson_of(session, world, step, memory={})
        mapping |= map_step(lesson, classifier, settings, mapping)
    ordered = {name: mapping[name] for name in world.scenario.names(world.scenario.order)}
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
    table = Table("class", "1st", "2nd", "3rd", "the paper's 1st", "found as")
    places = []
    for name, matches in ordered.items():
        words = [f"{match.name} {match.score:.3f}" for match in matches]
        paper = PAPER_MAPPING.get(name, ("",))[0]
        place = next((i for i, m in enumerate(matches) if agrees_with_paper(name, m)), None)
        places.append(place)
        told = ("1st", "2nd", "3rd")[place] if place is not None else "–" if paper else ""
        table.add_row(name, *words, paper, told)
    Console().print(table, markup=False)
    known = sum(name in PAPER_MAPPING for name in ordered)
    firsts, listed = places.count(0), len(places) - places.count(None)
    typer.echo(f"the paper's first choice: {firsts} of {known}; in the top 3: {listed} of {known}")


def _show_own(mapping: "Mapping[str, tuple[Match, ...]]") -> None:
    """The table for a classifier of one's own, of which the paper says nothing."""
    from rich.console import Console
    from rich.table import Table

    table = Table("class", "1st", "2nd", "3rd")
    for name, matches in mapping.items():
        table.add_row(name, *(f"{match.name} {match.score:.3f}" for match in matches))
    Console().print(table, markup=False)
