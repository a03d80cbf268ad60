"""The command line: its options, and how errors reach a person."""

import sys
from typing import Annotated

import typer

from recallseg.cli.lazy import LazyGroup
from recallseg.errors import RecallsegError
from recallseg.version import __version__
from recallseg.waiting import stop_on_request

app = typer.Typer(
    name="recallseg",
    help="Teach a segmentation model new classes without keeping the old images.",
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

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
    stop_on_request()
    try:
        app()
    except RecallsegError as error:
        if _debug:
            raise
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        raise
    except OSError as error:
        if _debug:
            raise
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"error: {where}{error.strerror or error}", err=True)
        sys.exit(2)
