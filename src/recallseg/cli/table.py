"""`recallseg table`: a grid of runs in one command."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from recallseg.config import RunConfig
    from recallseg.experiments.table_spec import RunGroup


def table(
    spec: Annotated[Path, typer.Argument(help="A YAML file such as tables/voc-mini-15-1.yaml.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value … for all runs")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where run folders and the report go.")
    ] = Path("runs"),
    on: Annotated[
        str, typer.Option(help="Where runs are done: local, ray, ray:ADDRESS or slurm.")
    ] = "local",
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, with --on local.")] = 1,
    cpus: Annotated[int, typer.Option(min=1, help="Of each process, on Ray or SLURM.")] = 1,
    gpus: Annotated[int, typer.Option(min=0, help="Of each process, on Ray or SLURM.")] = 0,
    slurm: Annotated[
        list[str] | None, typer.Option(help="Of jobs: partition=gpu, time=600, account=… .")
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option(help="Do no run again whose scores are in a table of this folder."),
    ] = None,
    collect: Annotated[
        bool, typer.Option("--collect", help="Do no run: make the table of those that are done.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the runs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Run a grid of methods, scenarios, setups and seeds; the same command continues it.

    The table grows as runs end, and the last line is the path of a report over all of them. Runs
    may be done on other machines too (docs/scale.md).
    """
    from recallseg.errors import RecallsegError

    if not spec.is_file():
        raise RecallsegError(f"The table {spec} does not exist.")
    from recallseg.experiments.table import make_table
    from recallseg.experiments.table_spec import plan_table
    from recallseg.progress import messages

    if dry_run:
        _list_runs(plan_table(spec, overrides or [], out), kept, as_json)
        return
    from recallseg.experiments.places.choosing import open_place

    console = messages()
    place = open_place(on, out, jobs, cpus, gpus, slurm or [])
    shows = console.is_terminal and place is None
    show = (lambda results: console.print(_as_table(results))) if shows else None
    results = make_table(spec, overrides or [], out, show, place, kept, collect)
    _show(results, out, as_json)


def _show(results: dict[str, Any], out: Path, as_json: bool) -> None:
    """Print the table and where it is, with a report of the runs that are here."""
    from recallseg.report.page import write_report

    report = out / f"{results['table']}.html"
    names = [name for cell in results["cells"] for name in cell["runs"]]
    if folders := [out / name for name in names if (out / name).is_dir()]:
        write_report(folders, report, title=results["table"])
    if as_json:
        typer.echo(json.dumps(results, indent=2))
        return
    from rich.console import Console

    Console().print(_as_table(results), markup=False)
    typer.echo(report.with_suffix(".json"))
    typer.echo(report if folders else "There is no report: all runs were done elsewhere.")


def _list_runs(groups: "Iterable[RunGroup]", kept: Path | None, as_json: bool) -> None:
    """Every run of a table with its folder, row by row, and how many there are to train."""
    from recallseg.experiments.table import kept_runs
    from recallseg.runs.folder import RunFolder

    known = kept_runs(kept) if kept else {}
    planned = [(group, folder, config) for group in groups for folder, config in group.runs]
    runs: list[dict[str, Any]] = [
        {
            "row": group.row,
            "scenario": group.scenario,
            "setup": group.setup,
            "seed": config.seed,
            "folder": str(folder),
            "finished": RunFolder(folder).result_file.is_file(),
            "kept": folder.name in known,
        }
        for group, folder, config in planned
    ]
    if as_json:
        typer.echo(json.dumps(runs, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    shown = Table("method", "scenario", "seed", "folder", title=_counts(runs))
    for each in runs:
        split = f"{each['scenario']} {each['setup']}"
        shown.add_row(each["row"], split, str(each["seed"]), each["folder"])
    Console().print(shown, markup=False)
    typer.echo(_different_first_steps([config for *_, config in planned]))


DONE = ("finished", "kept")
"""What keeps a run from being done again: a folder of its own, or a table with its scores."""


def _counts(runs: list[dict[str, Any]]) -> str:
    folders = {each["folder"] for each in runs}
    counts = ((key, len({each["folder"] for each in runs if each[key]})) for key in DONE)
    twice = f", {len(runs) - len(folders)} of them in two rows" if len(folders) < len(runs) else ""
    done = "".join(f", {count} {key}" for key, count in counts if count)
    return f"{len(folders)} runs{twice}{done}"


def _different_first_steps(configs: "list[RunConfig]") -> str:
    from recallseg.errors import RecallsegError
    from recallseg.experiments.schedule import first_steps

    try:
        count = len(set(first_steps(configs)))
    except RecallsegError as error:
        return f"How many different step 0 they have is not known without their data. {error}"
    return f"They have {count} different step 0, each of which is trained once."


def _as_table(results: dict[str, Any]) -> "Table":
    from rich.table import Table

    from recallseg.experiments.table import COLUMNS

    table = Table("method", "scenario", *COLUMNS, title=f"{results['table']}: mIoU at the end")
    for column in table.columns[2:]:
        column.justify = "right"
    for cell in results["cells"]:
        scores = [_score(cell[name], cell[f"{name}_spread"]) for name in COLUMNS]
        table.add_row(cell["row"], f"{cell['scenario']} {cell['setup']}", *scores)
    return table


def _score(value: float | None, spread: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if spread is None else f"{value:.1f} ± {spread:.1f}"
