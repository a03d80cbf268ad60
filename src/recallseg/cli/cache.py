"""`recallseg cache`: what can be computed again, and how much space it takes."""

from typing import Annotated

import typer

app = typer.Typer(help="List or empty the cache of features, masks and shared weights.")


@app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """List what is in the cache."""
    if context.invoked_subcommand:
        return
    from recallseg.engine.session.shared import cache_folders
    from recallseg.files import cache_root
    from recallseg.model.bank import bytes_on_disk

    typer.echo(f"{cache_root()}")
    for name, path in cache_folders().items():
        elsewhere = "" if path.parent == cache_root() else f"  {path}"
        typer.echo(f"  {name:<10} {bytes_on_disk(path) / 2**20:10,.1f} MiB{elsewhere}")


@app.command()
def clear(
    kinds: Annotated[
        list[str] | None, typer.Argument(help="What to empty: bank, step-0, …; all by default.")
    ] = None,
) -> None:
    """Delete what is in the cache, unless a command uses it; runs are not touched."""
    from recallseg.engine.session.shared import cache_folders
    from recallseg.errors import unknown_name
    from recallseg.files import remove_tree
    from recallseg.leases import cache_unused
    from recallseg.model.bank import bytes_on_disk

    folders = cache_folders()
    for kind in kinds or ():
        if kind not in folders:
            raise unknown_name("part of the cache", kind, folders)
    if not folders:
        return
    with cache_unused():
        for kind in kinds or folders:
            size = bytes_on_disk(folders[kind])
            remove_tree(folders[kind])
            typer.echo(f"{kind}: {size / 2**20:,.1f} MiB freed")
