"""`recallseg table`: a grid of runs in one command."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def table(
    spec: Annotated[Path, typer.Argument(help="A YAML file such as tables/voc-mini-15-1.yaml.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value … for all runs")] = None,
    out: Annotated[Path, typer.Option(help="Where run folders go.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Run a grid of methods, scenarios, setups and seeds; the same command again goes on."""
    from recallseg.engine.table import make_table

    found = make_table(spec, overrides or [], out)
    typer.echo(json.dumps(found, indent=2)) if as_json else _show(found, out)


def _show(found: dict[str, Any], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from recallseg.engine.table import COLUMNS

    shown = Table("method", "scenario", *COLUMNS, title=f"{found['table']}: mIoU at the end")
    for column in shown.columns[2:]:
        column.justify = "right"
    for cell in found["cells"]:
        scores = [_score(cell[name], cell[f"{name}_spread"]) for name in COLUMNS]
        shown.add_row(cell["row"], f"{cell['scenario']} {cell['setup']}", *scores)
    console = Console()
    console.print(shown, markup=False)
    console.print(f"{out / found['table']}.json", highlight=False, markup=False, soft_wrap=True)


def _score(value: float | None, spread: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if spread is None else f"{value:.1f} ± {spread:.1f}"
