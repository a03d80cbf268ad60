"""A server on a free port of this machine, for as long as a test needs it."""

import contextlib
import threading
import time

import uvicorn

from recallseg.serve.server import Server

PATIENCE = 120
"""Seconds after which something that should happen is taken for something that never will."""


def wait_until(happened, what):
    """Look again and again until `happened()`; what hangs for good is an error."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.01)


@contextlib.contextmanager
def running(app):
    """Serve `app`, recallseg's own or any other, from a thread and give its address."""
    if hasattr(app.state, "limits"):
        server = Server(app, port=0, log_level="error", prestart=False)
    else:
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the server did not start")
    port = server.servers[0].sockets[0].getsockname()[1]
    address = Address(f"http://127.0.0.1:{port}")
    address.server = server
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(20)


class Address(str):
    """Where the server is, and the server itself."""

    server: uvicorn.Server
