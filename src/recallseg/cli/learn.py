"""`recallseg learn` and `recallseg rollback`: add steps to a model, or remove them."""

from pathlib import Path
from typing import Annotated

import typer

from recallseg.cli.arguments import Model, check_lesson, check_model


def learn(
    model: Annotated[
        Path, typer.Argument(help="The model's folder; a new folder starts a new model.")
    ],
    data: Annotated[Path, typer.Argument(help="Photos: images/, masks/ and classes.txt.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value …")] = None,
    classes: Annotated[
        str | None,
        typer.Option(help="The classes to learn, as name,name; by default all of the folder."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where images of old classes come from: web, gan:FILE, folder:PATH or none. The "
            "first call takes web by default, later calls keep it."
        ),
    ] = None,
    val: Annotated[
        Path | None, typer.Option(help="Photos with masks of all classes, to evaluate on.")
    ] = None,
) -> None:
    """Teach a model the classes of a folder of photos, without the photos of its old ones.

    The model stays as it was until the new step is complete; run the command again after a stop.
    """
    check_lesson(model, data, overrides or [])
    from recallseg.engine.learn import learn as learn_step

    names = [name.strip() for name in classes.split(",")] if classes else None
    result = learn_step(
        model, data, classes=names, source=source, val=val, overrides=overrides or []
    )
    for step in result["steps"][-1:]:
        means = {name: value for name, value in step["miou"].items() if value is not None}
        typer.echo("mIoU: " + ", ".join(f"{name} {value:.1f}" for name, value in means.items()))
    typer.echo(model)


def rollback(
    model: Model,
    to: Annotated[int, typer.Option(help="The last step to keep.")],
) -> None:
    """Remove all steps after one from a model."""
    check_model(model)
    from recallseg.engine.learn import rollback as go_back

    gone = go_back(model, to)
    typer.echo(f"forgot {', '.join(gone)}" if gone else "there was nothing to forget")
