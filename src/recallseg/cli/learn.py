"""`recallseg learn` and `recallseg rollback`: add steps to a model, or remove them."""

import json
from pathlib import Path
from typing import Annotated, Any

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
        typer.Option(
            help="The classes to learn, as name,name; by default all of the folder. Classes that "
            "the model knows are refined with these photos."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where images of old classes come from: web, gan:FILE, folder:PATH or none. The "
            "first call takes web by default, later calls keep it."
        ),
    ] = None,
    val: Annotated[
        Path | None,
        typer.Option(
            help="Photos with masks of all classes, to evaluate on; later calls keep them."
        ),
    ] = None,
    allow_forgetting: Annotated[
        bool,
        typer.Option(
            "--allow-forgetting", help="Go on where an old class has no images to be kept by."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --dry-run: print JSON and nothing else.")
    ] = False,
) -> None:
    """Teach a model the classes of a folder of photos, without the photos of its old ones.

    The model stays as it was until the new step is complete; run the command again after a stop.
    """
    check_lesson(model, data, overrides or [])
    names = [name.strip() for name in classes.split(",")] if classes else None
    words: dict[str, Any] = {
        "classes": names,
        "source": source,
        "val": val,
        "overrides": overrides or [],
        "allow_forgetting": allow_forgetting,
    }
    if dry_run:
        from recallseg.engine.learn_call import prepare
        from recallseg.engine.learn_plan import plan

        planned = plan(prepare(model, data, **words), overrides or [])
        if as_json:
            typer.echo(json.dumps(planned, indent=2))
        else:
            from recallseg.cli.learn_tables import show_plan

            show_plan(planned)
        return
    from recallseg.cli.learn_tables import show_step
    from recallseg.engine.learn import learn as learn_step

    learn_step(model, data, **words)
    show_step(model)
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
