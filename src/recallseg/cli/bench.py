"""`recallseg bench`: measure what the design claims."""

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Measure how fast things are.", no_args_is_help=True)


@app.command()
def bank(
    config: Annotated[Path, typer.Argument(help="A YAML file.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value …")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the numbers to this JSON file.")] = None,
) -> None:
    """Compare the later steps of a run with the feature bank and without it."""
    from recallseg.config import load_config
    from recallseg.engine.bench import bench_bank
    from recallseg.files import write_json

    numbers = bench_bank(load_config(config, overrides or []))
    if out:
        write_json(out, numbers)
    typer.echo(json.dumps(numbers, indent=2))


@app.callback()
def _group() -> None:
    """Keep `bank` a subcommand."""
