"""`recallseg toy`: the drawn world as pictures, files and a photo site."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="A drawn world with VOC's classes: look at it, write it, serve it.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(help="The new folder; or -o OUT.", show_default=False)]
Seed = Annotated[int, typer.Option(min=0, help="Another seed draws another world.")]


@app.command()
def sheet(
    out: Annotated[Path, typer.Argument(help="NAME.png; or -o OUT.", show_default=False)],
    rows: Annotated[int, typer.Option(min=1, help="Rows of scenes with their masks.")] = 5,
    zoom: Annotated[int, typer.Option(min=1, max=8, help="The factor to enlarge by.")] = 2,
    seed: Seed = 0,
) -> None:
    """Write a contact sheet: scenes beside their masks, and one row of each other style."""
    from recallseg.data.toy.sheet import write_sheet

    write_sheet(out, rows=rows, seed=seed, zoom=zoom)
    typer.echo(str(out))


@app.command()
def write(
    out: Folder,
    count: Annotated[int, typer.Option(min=1, help="Scenes in each split.")] = 100,
    split: Annotated[str, typer.Option(help="train, val, or train,val.")] = "train",
    classes: Annotated[
        str | None, typer.Option(help="Names such as sheep,train; all others are background.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Write scenes as a dataset of images/, masks/ and classes.txt."""
    from recallseg.data.toy.writing import SPLITS, write_scenes
    from recallseg.errors import unknown_name

    splits = _names(split)
    for name in splits:
        if name not in SPLITS:
            raise unknown_name("split", name, SPLITS)
    write_scenes(out, dict.fromkeys(splits, count), seed=seed, classes=_names(classes))
    typer.echo(f"{out}: " + ", ".join(f"{count} in {name}" for name in splits))


@app.command()
def pictures(
    out: Folder,
    per_class: Annotated[int, typer.Option(min=1, help="Pictures of each class.")] = 200,
    side: Annotated[int, typer.Option(min=16, help="Height and width of a picture, in px.")] = 64,
    classes: Annotated[
        str | None, typer.Option(help="Names such as tabby,oak; by default all 40.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Write a folder of pictures per class, for `recallseg gan train`."""
    from recallseg.data.toy.writing import write_pictures

    made = write_pictures(out, per_class, seed=seed, side=side, subjects=_names(classes))
    typer.echo(f"{out}: {made} pictures")


@app.command()
def photos(
    out: Folder,
    per_class: Annotated[int, typer.Option(min=1, help="Photos of each class.")] = 40,
    classes: Annotated[
        str | None, typer.Option(help="Names such as sheep,train; by default all 20.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Write a folder of photos per class, as on the photo site, for replay from a folder."""
    from recallseg.data.toy.writing import write_snapshots

    made = write_snapshots(out, per_class, seed=seed, classes=_names(classes))
    typer.echo(f"{out}: {made} photos")


@app.command()
def site(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 8765,
    per_class: Annotated[int, typer.Option(min=1, help="Photos on the site per class.")] = 200,
    seed: Seed = 0,
) -> None:
    """Serve the drawn world's photo site on this machine until Ctrl-C."""
    from recallseg.replay.web.toy_site import ToySite

    with ToySite(per_class=per_class, seed=seed, port=port) as running:
        typer.echo(
            f"{len(running.photos)} photos. For a run, set FLICKR_API_KEY to any word and add:\n"
            f"replay.source=web replay.web.site=flickr replay.web.base_url={running.api} "
            "'replay.web.allow_hosts=[127.0.0.1]' replay.web.interval=0"
        )
        try:
            running.thread.join()
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
