"""`recallseg serve`: a web page and an HTTP API over a learned model."""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recallseg.cli.arguments import Model, check_model

if TYPE_CHECKING:
    from recallseg.predict.timeline import Timeline


def serve(
    model: Model,
    compare: Annotated[
        Path | None, typer.Option(help="Another run, shown beside it for the same photo.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="RECALLSEG_TOKEN",
            show_default=False,
            help="What requests must bring along; made and printed unless --host is loopback.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name that the server answers to, besides --host and loopback."),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            help="A folder with photos to click on; by default those that the model is measured "
            "on or last learned from if --host is loopback, and else two drawings."
        ),
    ] = None,
    longer_side: Annotated[
        int,
        typer.Option(
            min=32,
            max=2048,
            help="Larger photos are shrunk to this first; a model that remembers a smaller size "
            "looks at that.",
        ),
    ] = 1024,
    max_upload_mb: Annotated[float, typer.Option(min=0.1, help="Longer uploads are refused.")] = 20,
    max_megapixels: Annotated[float, typer.Option(min=0.1, help="Larger photos are refused.")] = 40,
    seconds: Annotated[
        float, typer.Option(min=1, help="The longest that a complete request may take.")
    ] = 30,
    waiting: Annotated[
        int, typer.Option(min=1, help="How many complete requests may wait; clients take turns.")
    ] = 64,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many batches of photos are looked at at a time.  [one a core]"
        ),
    ] = None,
    per_minute: Annotated[
        float | None, typer.Option(min=0.1, help="How many photos a client may send in a minute.")
    ] = None,
    per_client: Annotated[
        int, typer.Option(min=1, help="How many connections a client may have open.")
    ] = 100,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds to answer what waits, when told to stop.")
    ] = 20,
    log_requests: Annotated[
        Path | None, typer.Option(help="Add a line of JSON to this file for every request.")
    ] = None,
    reload: Annotated[
        bool, typer.Option(help="Show a step that the model learns meanwhile, without a restart.")
    ] = True,
) -> None:
    """Open a page to try a model on photos, after every step that it learned.

    Nothing that is uploaded is stored. The page needs nothing from any other server.
    """
    check_model(model)
    from recallseg.errors import RecallsegError

    try:
        from recallseg.serve.access import Access, is_loopback
        from recallseg.serve.app import create_app
        from recallseg.serve.server import Server
    except ImportError as error:
        missing = f"recallseg serve needs {error.name}: pip install 'recallseg[serve]'."
        raise RecallsegError(missing) from error
    from recallseg.serve.limits import ServerLimits, usable_cores
    from recallseg.serve.observing import RequestLog
    from recallseg.serve.samples import find_samples, own_photos

    access = Access.to(host, allow_host or [], token)
    pixels = int(max_megapixels * 1e6)
    limits = ServerLimits(
        upload_bytes=int(max_upload_mb * 1e6),
        body_bytes=max(ServerLimits.body_bytes, int(4 * max_upload_mb * 1e6)),
        pixels=pixels,
        mask_pixels=max(pixels, ServerLimits.mask_pixels),
        seconds=seconds,
        waiting=waiting,
        workers=workers or usable_cores(),
        per_minute=per_minute,
        connections_per_client=per_client,
        grace=grace,
    )
    log = RequestLog.at(log_requests) if log_requests else None
    runs = _opened({"model": model, "compare": compare}, longer_side, reload=reload)
    if samples is None and is_loopback(host):
        samples = own_photos(model)
    app = create_app(runs, find_samples(samples), limits, access, log)
    with _listening(host, port) as listener:
        _tell(host, listener.getsockname()[1], access.token, made=token is None)
        Server(app, log_level="error").run([listener])


def _opened(
    folders: "Mapping[str, Path | None]", longer_side: int, *, reload: bool
) -> "Mapping[str, Timeline]":
    """The runs in some folders, ready to be asked."""
    from functools import partial

    from recallseg.predict.timeline import Timeline
    from recallseg.serve.runs import LiveRuns, warm_up

    paths = {key: path for key, path in folders.items() if path is not None}
    live = LiveRuns(paths, partial(Timeline, longer_side=longer_side))
    for run in live.values():
        warm_up(run)
    return live if reload else dict(live)


def _tell(host: str, port: int, token: str | None, *, made: bool) -> None:
    """Print where the server is; a token that was made is printed here and nowhere else."""
    from recallseg.serve.access import WILDCARDS, as_url_host, is_loopback

    here = "127.0.0.1" if host in WILDCARDS else host
    query = f"/?token={token if made else 'TOKEN'}" if token else ""
    address = f"http://{as_url_host(here)}:{port}{query}"
    typer.echo(f"Open {address} in a browser; end with Ctrl-C.", err=True)
    if not is_loopback(host):
        typer.echo(
            "Warning: other machines can reach this server, over HTTP that anyone on the way can "
            "read; whoever has the token may use it.",
            err=True,
        )


def _listening(host: str, port: int) -> socket.socket:
    """A socket on an address, bound before the address is printed."""
    from recallseg.errors import RecallsegError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise RecallsegError(
            f"Cannot listen on {host}:{port} ({error.strerror}); choose another --port or --host."
        ) from error
