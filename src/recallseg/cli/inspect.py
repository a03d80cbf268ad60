"""Commands that only print: `scenario`, `config` and `doctor`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from recallseg.scenario import Scenario


def scenario(
    dataset: Annotated[str, typer.Argument(help="voc, voc-mini, ade or folder.")],
    spec: Annotated[str, typer.Argument(help="a-b: a classes first, then b at a time.")],
    setup: Annotated[str, typer.Option(help="disjoint, overlapped or sequential.")] = "disjoint",
    rule: Annotated[str, typer.Option(help="standard or as-written.")] = "standard",
    order: Annotated[
        str | None,
        typer.Option(help="All class names in the order of learning, separated by commas."),
    ] = None,
    lists: Annotated[
        Path | None, typer.Option(help="A folder with a list of photos per step: train-0.npy …")
    ] = None,
    root: Annotated[Path | None, typer.Option(help="The dataset's folder.")] = None,
    presence: Annotated[
        Path | None, typer.Option(help="A CSV of split,id,classes to read instead of the masks.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show the steps of a scenario: their classes and how many photos each has."""
    from rich.console import Console
    from rich.table import Table

    from recallseg.progress import messages
    from recallseg.scenario.build import open_scenario

    steps = open_scenario(
        dataset,
        spec,
        setup=setup,
        rule=rule,
        order=order.split(",") if order else None,
        lists=lists,
        root=root,
        presence=presence,
    )
    for note in _notes(steps):
        messages().print(f"note: {note}", highlight=False, soft_wrap=True)
    if as_json:
        rows = [
            {
                "step": step.index,
                "classes": steps.names(step.new_classes),
                "images": len(step.images),
            }
            for step in steps
        ]
        answer = {"dataset": dataset, "spec": spec, "setup": setup, "steps": rows}
        typer.echo(json.dumps(answer, indent=2))
        return
    table = Table("step", "new classes", "photos", title=f"{dataset} {spec} {setup}")
    table.columns[2].justify = "right"
    for step in steps:
        names = ", ".join(steps.names(step.new_classes))
        table.add_row(str(step.index), names, f"{len(step.images):,}")
    Console().print(table, markup=False)


def _notes(steps: "Scenario") -> Iterator[str]:
    """What is odd about a scenario, though it can be run."""
    if steps.last_step_is_short:
        classes, last = len(steps.order), steps.sizes[-1]
        yield f"{steps.spec} does not divide {classes} classes; the last step has {last}."
    for step in steps:
        if without := steps.photos_without_new_classes(step):
            yield (
                f"{without:,} of the {len(step.images):,} photos in the list of step {step.index} "
                "show none of its classes; do its indices count the photos of this split?"
            )


def config(
    path: Annotated[Path, typer.Argument(help="A YAML file.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value …")] = None,
) -> None:
    """Print a configuration with all its settings, or everything that is wrong with it."""
    from recallseg.config import dump_config, load_config

    typer.echo(dump_config(load_config(path, overrides or [])), nl=False)


def doctor() -> None:
    """Show versions, devices, weights and data, and how to get what is missing."""
    from rich.console import Console

    from recallseg.cli.doctor import tables

    for table in tables():
        Console().print(table)
