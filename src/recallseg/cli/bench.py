"""`recallseg bench`: measure what the design promises."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from recallseg.cli.arguments import Model, check_model

app = typer.Typer(help="Measure what the design promises; without a name, all ratios at once.")

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the numbers to this file.")]


class FrozenPart(StrEnum):
    """What of a decoder `bench ceiling` can take over from step 0."""

    TAIL = "tail"
    NECK = "neck"


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="A YAML file; by default the drawn world's settings.")
    ] = None,
    photos: Annotated[int, typer.Option(min=4, help="How many photos to measure with.")] = 64,
    out: Out = None,
) -> None:
    """Print one table of ratios, each taken in one run on this machine."""
    if context.invoked_subcommand:
        return
    from recallseg.config import load_config, load_preset

    loaded = load_config(config, []) if config else load_preset("toy")
    from rich.console import Console
    from rich.table import Table

    from recallseg.experiments.overview import bench_all

    numbers = bench_all(loaded, photos)
    if out:
        from recallseg.files import write_json

        write_json(out, numbers)
    table = Table("ratio", "found", "wanted", title=f"on {numbers['cores']} cores")
    for name, value in numbers["ratios"].items():
        table.add_row(name, f"{value:.2f}", numbers["wanted"].get(name, ""))
    Console().print(table, markup=False)


@app.command()
def bank(
    config: Annotated[Path, typer.Argument(help="A YAML file.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value …")] = None,
    out: Out = None,
) -> None:
    """Compare the later steps of a run with the feature bank and without it."""
    from recallseg.config import load_config

    loaded = load_config(config, overrides or [])
    from recallseg.experiments.bank import bench_bank

    _show(bench_bank(loaded), out)


@app.command()
def increments(
    config: Annotated[Path, typer.Argument(help="A YAML file.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value …")] = None,
    keep: Annotated[Path | None, typer.Option(help="A new folder for the run itself.")] = None,
    out: Out = None,
) -> None:
    """Run a configuration and compare its later steps with the bare decoder."""
    from recallseg.config import load_config

    loaded = load_config(config, overrides or [])
    from recallseg.experiments.increments import bench_increments

    _show(bench_increments(loaded, keep), out)


@app.command()
def ceiling(
    model: Model,
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value … of the decoder or its training")
    ] = None,
    iterations: Annotated[int, typer.Option(min=1, help="How long the decoder is trained.")] = 1200,
    frozen: Annotated[
        list[FrozenPart] | None,
        typer.Option(help="A part of the decoder that stays as step 0 left it."),
    ] = None,
    out: Out = None,
) -> None:
    """Train a fresh decoder on all classes at once, on the encoder that step 0 left frozen."""
    check_model(model)
    from recallseg.experiments.ceiling import bench_ceiling

    parts = [part.value for part in frozen or []]
    _show(bench_ceiling(model, overrides or [], iterations, parts), out)


@app.command()
def forgetting(
    model: Model,
    step: Annotated[
        int | None, typer.Option(min=1, help="The step that forgot; the last one by default.")
    ] = None,
    photos: Annotated[
        int | None,
        typer.Option(min=1, help="Measure on so many validation photos; all by default."),
    ] = None,
    out: Out = None,
) -> None:
    """Put parts of a model back as they were before a step, to see where old classes went."""
    check_model(model)
    from recallseg.experiments.forgetting import bench_forgetting

    _show(bench_forgetting(model, step, photos), out)


@app.command()
def shift(
    model: Model,
    photos: Annotated[int, typer.Option(min=1, help="How many validation photos to look at.")] = 40,
    placements: Annotated[int, typer.Option(min=1, help="As in `recallseg predict`.")] = 1,
    every: Annotated[int, typer.Option(min=1, help="Only one out of so many shifts.")] = 1,
    out: Out = None,
) -> None:
    """Move photos by 1 to 31 pixels and compare the masks, moved back."""
    check_model(model)
    from recallseg.experiments.shift import bench_shift
    from recallseg.progress import waiting

    with waiting("Looking at photos that move"):
        numbers = bench_shift(model, photos, placements, every)
    _show(numbers, out)


@app.command()
def predict(
    model: Model,
    photos: Annotated[int, typer.Option(min=1, help="How many validation photos to use.")] = 200,
    out: Out = None,
) -> None:
    """Compare predicting photos from their files with the bare model on ready batches."""
    check_model(model)
    from recallseg.experiments.prediction import bench_prediction
    from recallseg.progress import waiting

    with waiting("Predicting in turns"):
        numbers = bench_prediction(model, photos)
    _show(numbers, out)


@app.command()
def serve(
    model: Model,
    photos: Annotated[int, typer.Option(min=1, help="How many validation photos to use.")] = 40,
    longer_side: Annotated[
        int | None, typer.Option(min=32, help="Bring photos to this size before they are sent.")
    ] = None,
    requests: Annotated[int, typer.Option(min=1, help="How many times a photo is sent.")] = 300,
    clients: Annotated[int, typer.Option(min=1, help="How many clients send them.")] = 32,
    slow_clients: Annotated[int, typer.Option(min=0, help="How many others are slow.")] = 200,
    endurance: Annotated[
        int, typer.Option(min=0, help="How many small photos are sent while memory is watched.")
    ] = 3000,
    out: Out = None,
) -> None:
    """Send photos to `recallseg serve` from many clients, and compare with the bare model."""
    check_model(model)
    from recallseg.experiments.serving import bench_serve
    from recallseg.progress import waiting

    with waiting("Sending photos"):
        numbers = bench_serve(
            model,
            photos=photos,
            longer_side=longer_side,
            requests=requests,
            clients=clients,
            slow_clients=slow_clients,
            endurance=endurance,
        )
    _show(numbers, out)


def _show(numbers: dict[str, Any], out: Path | None) -> None:
    if out:
        from recallseg.files import write_json

        write_json(out, numbers)
    typer.echo(json.dumps(numbers, indent=2))
