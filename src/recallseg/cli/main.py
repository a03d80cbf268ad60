"""The command line: its groups, and how errors reach a person."""

import sys
from typing import Annotated

import typer

from recallseg.cli import (
    bench,
    cache,
    data,
    demo,
    export,
    gan,
    info,
    inspect,
    learn,
    predict,
    replay,
    report,
    run,
    serve,
    table,
    toy,
)
from recallseg.errors import RecallsegError
from recallseg.version import __version__

app = typer.Typer(
    name="recallseg",
    help="Teach a segmentation model new classes without keeping the old images.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("learn")(learn.learn)
app.command("rollback")(learn.rollback)
app.command("table")(table.table)
app.command("report")(report.report)
app.command("evaluate")(run.evaluate)
app.command("predict")(predict.predict)
app.command("serve")(serve.serve)
app.command("export")(export.export)
app.command("info")(info.info)
app.add_typer(data.app, name="data")
app.add_typer(toy.app, name="toy")
app.add_typer(replay.app, name="replay")
app.add_typer(gan.app, name="gan")
app.add_typer(cache.app, name="cache")
app.add_typer(bench.app, name="bench")
app.command("scenario")(inspect.scenario)
app.command("config")(inspect.config)
app.command("doctor")(inspect.doctor)

_debug = False


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recallseg {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    global _debug
    _debug = debug


def main() -> None:
    """Run the command line; an error that a person can mend is one sentence and exit code 2."""
    try:
        app()
    except RecallsegError as error:
        if _debug:
            raise
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
