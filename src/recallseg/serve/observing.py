"""A line of JSON and a few counts for every request."""

import json
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallseg.errors import RecallsegError
from recallseg.files import readable_disk_errors
from recallseg.serve.meters import Meters

PATHS = ("/", "/docs", "/openapi.json", "/model", "/predict", "/livez", "/readyz", "/metrics")
"""Paths that are counted under their own name; strangers ask for all kinds of others."""


class Observed:
    """Counts what goes by, and writes it down for people who run a server.

    What is written holds neither a photo nor the part of an address behind the question mark,
    where a token may be.
    """

    def __init__(
        self, app: ASGIApp, meters: Meters, log: Callable[[dict[str, Any]], None] | None
    ) -> None:
        self.app, self.meters, self.log = app, meters, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and look at what comes back."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, code, sent = time.monotonic(), 500, 0
        name = uuid.uuid4().hex[:16]
        notes: dict[str, Any] = {}
        scope.setdefault("state", {})["notes"] = notes

        async def watched(message: Message) -> None:
            nonlocal code, sent
            if message["type"] == "http.response.start":
                code = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", name.encode())]
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            seconds = time.monotonic() - start
            path = scope["path"]
            label = "/samples" if path.startswith("/samples/") else path
            label = label if label in (*PATHS, "/samples") else "other"
            self.meters.requests.labels(_method(scope), label, str(code)).inc()
            self.meters.seconds.labels(label).observe(seconds)
            if self.log:
                self.log(
                    {
                        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                        "id": name,
                        "client": (scope.get("client") or ("",))[0],
                        "method": scope["method"][:20],
                        "path": path[:200],
                        "status": code,
                        "seconds": round(seconds, 4),
                        "bytes_sent": sent,
                        **notes,
                    }
                )


def _method(scope: Scope) -> str:
    method = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "OPTIONS") else "other"


class RequestLog:
    """Lines of JSON at the end of a file; a full disk costs lines, never answers."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    @classmethod
    def at(cls, path: Path) -> "RequestLog":
        """A log in a file of its own, opened now so that a bad path is told at once."""
        if not path.parent.is_dir():
            raise RecallsegError(f"The folder of the log {path} does not exist; make it first.")
        with readable_disk_errors(path):
            return cls(path.open("a", buffering=1, encoding="utf-8"))

    def __call__(self, entry: dict[str, Any]) -> None:
        """Write a line."""
        try:
            self.file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            self.file.flush()
        except OSError:
            pass
