"""`recallseg predict`: segment photos with a learned model."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from recallseg.cli.arguments import Model, Step, check_model


def predict(
    model: Model,
    images: Annotated[list[str], typer.Argument(help="Photos, folders of them, or patterns.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The folder for results: predictions/ by default; without it, formats that are "
            "one file go to standard output.",
        ),
    ] = None,
    step: Step = None,
    format: Annotated[
        str,
        typer.Option(help="How results are written; a word that is none lists them all."),
    ] = "png",
    longer_side: Annotated[
        int | None,
        typer.Option(
            min=32, help="Shrink larger photos to this for the model; masks keep the photo's size."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="How many px outlines may be off, to have fewer corners.")
    ] = 0.4,
    tiles: Annotated[
        bool,
        typer.Option(
            "--tiles",
            help="Look at photos at their own size, in tiles where they are large, and not at the "
            "size that the model learned at.",
        ),
    ] = False,
    placements: Annotated[
        int,
        typer.Option(
            min=1,
            help="Look at each photo at so many places and take the mean: steadier masks that "
            "take so many times as long.",
        ),
    ] = 1,
) -> None:
    """Segment photos of any size.

    Photos that cannot be read do not stop the rest: they are listed at the end, and the exit code
    is 2. Two photos of the same name get two results: NAME.png and NAME-2.png.
    """
    from recallseg.errors import RecallsegError, unknown_name
    from recallseg.predict.files import find_photos, predict_files
    from recallseg.predict.writers import FORMATS, FreeNames

    if format not in FORMATS:
        kinds = (f"{name} ({kind.title})" for name, kind in FORMATS.items())
        raise unknown_name("format", format, kinds)
    check_model(model, step)
    paths = find_photos(images)
    from recallseg.predict.predictor import Predictor

    predictor = Predictor.open(
        model, step, longer_side=longer_side, native=tiles, placements=placements
    )
    names = FreeNames(out or Path("predictions"), paths)
    writer = FORMATS[format](predictor, names, tolerance)
    failures = predict_files(predictor, paths, writer)
    if writer.value is None:
        out = out or Path("predictions")
    else:
        _deliver(writer.value, out and out / f"{format}.json")
    if out is not None:
        typer.echo(f"{len(paths) - len(failures)} of {len(paths)} photos are in {out}", err=True)
    if failures:
        listed = "\n  ".join(failures)
        raise RecallsegError(f"{len(failures)} of {len(paths)} photos failed:\n  {listed}")


def _deliver(value: dict[str, Any] | list[Any], path: Path | None) -> None:
    """Write a value into a file, or to standard output without one."""
    from recallseg.files import write_json

    if path is None:
        typer.echo(json.dumps(value, indent=2))
    else:
        write_json(path, value)
