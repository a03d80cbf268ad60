"""`recallseg report`: the results of runs, on one page or as tables for a paper."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders, or folders that contain some; finished or not."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write; report.html by default.")
    ] = None,
    title: Annotated[str, typer.Option(help="The page's heading.")] = "recallseg report",
    latex: Annotated[bool, typer.Option("--latex", help="LaTeX tables instead of a page.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV tables instead of a page.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown tables instead of a page.")
    ] = False,
    kept: Annotated[
        bool,
        typer.Option("--kept", help="A Markdown page of a folder of kept JSON, docs/results."),
    ] = False,
) -> None:
    """Show the results of runs: one page that opens anywhere, or tables for a paper.

    Tables go to the terminal unless --out names a file.
    """
    from recallseg.errors import RecallsegError
    from recallseg.files import write_text
    from recallseg.progress import waiting
    from recallseg.report import tables as formats
    from recallseg.report.page import page, tables
    from recallseg.report.runs import read_runs

    wanted = {formats.to_latex: latex, formats.to_csv: as_csv, formats.to_markdown: markdown}
    if sum(wanted.values()) + kept > 1:
        raise RecallsegError("Choose one of --latex, --csv, --markdown and --kept.")
    if kept:
        _show(_kept_page(runs, out), out)
        return
    all_runs = read_runs(runs)
    for as_text, is_wanted in wanted.items():
        if is_wanted:
            _show(as_text(tables(all_runs)), out)
            return
    out = out or Path("report.html")
    with waiting("Drawing the report"):
        write_text(out, page(all_runs, title))
    typer.echo(out)


def _kept_page(folders: list[Path], out: Path | None) -> str:
    from recallseg.errors import RecallsegError
    from recallseg.report.results_page import results_page

    if len(folders) != 1:
        raise RecallsegError("--kept makes a page of one folder of results; name just one.")
    to_file = f" -o {out.as_posix()}" if out else ""
    return results_page(folders[0], f"recallseg report {folders[0].as_posix()} --kept{to_file}")


def _show(text: str, out: Path | None) -> None:
    from recallseg.files import write_text

    write_text(out, text) if out else typer.echo(text, nl=False)
