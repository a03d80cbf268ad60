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

    typer.echo(f"{cache_root()}")
    for name, size in cache_folders().items():
        typer.echo(f"  {name:<10} {size / 2**20:10,.1f} MiB")


@app.command()
def clear(
    kinds: Annotated[
        list[str] | None, typer.Argument(help="What to empty: bank, step-0, …; all by default.")
    ] = None,
) -> None:
    """Delete what is in the cache, unless a command uses it; runs are not touched."""
    from recallseg.engine.session.shared import cache_folders
    from recallseg.errors import unknown_name
    from recallseg.files import cache_root, remove_tree
    from recallseg.leases import cache_unused

    sizes = cache_folders()
    for kind in kinds or ():
        if kind not in sizes:
            raise unknown_name("part of the cache", kind, sizes)
    if not sizes:
        return
    with cache_unused():
        for kind in kinds or sizes:
            remove_tree(cache_root() / kind)
            typer.echo(f"{kind}: {sizes[kind] / 2**20:,.1f} MiB freed")
