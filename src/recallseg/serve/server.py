"""uvicorn with time limits for slow clients, and an end that lets requests be answered first."""

import math
import socket
from functools import partial
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from recallseg.serve.connections import Connections, TimedProtocol
from recallseg.serve.limits import ServerLimits

SPARE_FILES = 100
"""Open files that a server needs besides its connections."""


class Server(uvicorn.Server):
    """Serves an app of `create_app`.

    Told to stop, it takes no new connection, answers what waits for as long as the limits say, and
    refuses the rest.
    """

    def __init__(self, app: FastAPI, *, prestart: bool = True, **options: Any) -> None:  # noqa: ANN401
        """`prestart` starts the processes that decode photos before the first photo comes."""
        limits: ServerLimits = app.state.limits
        _allow_files(limits.connections + SPARE_FILES)
        meters, self.service, self.prestart = app.state.meters, app.state.service, prestart
        connections = Connections(limits, lambda reason: meters.closed.labels(reason).inc())
        meters.connections.set_function(lambda: len(connections))
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(Any, partial(TimedProtocol, connections)),
                ws="none",
                timeout_graceful_shutdown=math.ceil(limits.grace) + 2,
                **options,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start everything."""
        await super().startup(sockets)
        if self.prestart:
            self.service.decoders.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, then refuse."""
        self.service.stop_taking()
        await super().shutdown(sockets)


def _allow_files(count: int) -> None:
    """Raise the limit of open files to what the connections need, as far as that is allowed."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
