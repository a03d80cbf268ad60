"""`recallseg data import`: a dataset of another tool becomes one that recallseg learns from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from recallseg.data.importing.importer import ImportReport


def import_data(
    source: Annotated[
        Path, typer.Argument(help="The dataset's folder, or its annotation file.", metavar="SRC")
    ],
    out: Annotated[Path, typer.Argument(help="The new folder; or -o OUT.", metavar="OUT")],
    format: Annotated[
        str | None,
        typer.Option(help="By default it is detected; a word that is none lists them all."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="The photos' folder, if they are not with their labels."),
    ] = None,
    link: Annotated[
        bool, typer.Option("--link/--copy", help="Link to the photos, or copy them.")
    ] = False,
    colours: Annotated[
        Path | None,
        typer.Option(help="A file with the colour of each class, for masks in RGB."),
    ] = None,
    class_name: Annotated[
        str | None, typer.Option("--class", help="The class of masks that are 0 and 255.")
    ] = None,
    boxes: Annotated[
        bool, typer.Option("--boxes", help="Fill the boxes of objects that have no outline.")
    ] = False,
) -> None:
    """Make a folder that recallseg learns from of a dataset of another tool.

    Where objects overlap, the smaller one is in front (COCO, YOLO), or the order of the file
    decides (LabelMe), or its z_order does (CVAT, Datumaro). What is left out is counted with the
    reason; if anything is wrong, nothing is written.
    """
    from recallseg.data.importing.importer import import_dataset
    from recallseg.data.importing.source_folder import ImportOptions

    options = ImportOptions(images, colours, class_name, boxes)
    _show(import_dataset(source, out, format=format, link=link, options=options))


def _show(report: "ImportReport") -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    counts = ", ".join(f"{count} in {split}" for split, count in report.splits.items())
    classes = ", ".join(f"{name} ({count})" for name, count in report.classes.items())
    lines = [f"{report.out}: from {report.format}, {counts}", f"Photos of each class: {classes}"]
    if report.background:
        lines.append(f"Photos without any: {report.background}, background everywhere")
    if report.never_seen:
        lines.append(f"Classes left out, as no photo shows them: {', '.join(report.never_seen)}")
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if report.skips.counts:
        table = Table("how many", "what", "why", "for example", title="Left out or changed")
        for (what, why), count in report.skips.counts.items():
            table.add_row(str(count), what, why, report.skips.examples[what, why])
        console.print(table, markup=False)
