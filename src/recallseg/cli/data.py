"""`recallseg data`: look at a dataset, import one, or make a small copy of it."""

from pathlib import Path
from typing import Annotated

import typer

from recallseg.cli.data_import import import_data

app = typer.Typer(
    help="Check a dataset, import one, or make a small copy of one.", no_args_is_help=True
)
app.command("import")(import_data)

Root = Annotated[Path, typer.Argument(help="The dataset's folder.", show_default=False)]


@app.command()
def check(root: Root) -> None:
    """Read every photo and mask and list what is wrong; exit code 2 if anything is."""
    from rich.console import Console
    from rich.table import Table

    from recallseg.config import load_preset
    from recallseg.data.check import Defect, check_dataset

    def show(title: str, found: tuple[Defect, ...]) -> None:
        table = Table("what is wrong", "where", "in detail", title=title)
        for defect in found:
            table.add_row(defect.kind, defect.subject, defect.detail)
        console.print(table, markup=False)

    report = check_dataset(root)
    counts = ", ".join(f"{count} in {split}" for split, count in report.pairs.items())
    console = Console()
    console.print(f"{report.root}: layout {report.layout}, {counts}", highlight=False)
    if report.sizes.sides:
        sentence = report.sizes.sentence(load_preset("learn").views.crop)
        console.print(sentence, highlight=False, soft_wrap=True)
    if report.warnings:
        show(f"{len(report.warnings)} to look at", report.warnings)
    if not report.defects:
        console.print("Nothing is wrong." if not report.warnings else "Nothing else is wrong.")
        return
    show(f"{len(report.defects)} defects", report.defects)
    raise typer.Exit(2)


@app.command()
def shrink(
    root: Root,
    out: Annotated[Path, typer.Argument(help="The new folder; or -o OUT.", show_default=False)],
    longer_side: Annotated[
        int, typer.Option(min=16, help="The longer side of photos and masks, in px.")
    ] = 256,
    train: Annotated[int, typer.Option(min=1, help="Pairs to take for training.")] = 4232,
    val: Annotated[int, typer.Option(min=1, help="Pairs to take for validation.")] = 725,
    seed: Annotated[int, typer.Option(help="Decides which pairs are taken.")] = 0,
) -> None:
    """Make a small copy of a dataset in VOC's layout."""
    from recallseg.data.shrink import shrink_dataset

    counts = shrink_dataset(root, out, longer_side=longer_side, train=train, val=val, seed=seed)
    typer.echo(f"{out}: " + ", ".join(f"{count} in {split}" for split, count in counts.items()))


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="voc or ade.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Its folder; by default $RECALLSEG_DATA/NAME."),
    ] = None,
) -> None:
    """Download a public dataset: VOC 2012 with the SBD masks (3.4 GB), or ADE20K (1 GB).

    Whoever downloads them agrees to their owners' terms. The archives come from their owners' sites
    and are checked; run the command again after a stop.
    """
    from recallseg.data.getting import GETTERS
    from recallseg.data.kinds import data_folder
    from recallseg.errors import unknown_name

    if name not in GETTERS:
        raise unknown_name("dataset to download", name, GETTERS)
    typer.echo(GETTERS[name](out or data_folder(name)))
