"""Clients by the dozen, quick and slow ones, for a server in a process of its own."""

import contextlib
import http.client
import itertools
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from recallseg.errors import RecallsegError

PATIENCE = 300.0
"""Seconds after which a server that does not do something is taken for one that never will."""
BOUNDARY = "recallseg-bench"


def photo_form(photo: bytes, name: str) -> bytes:
    """The body of a request with a photo."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode() + photo + f"\r\n--{BOUNDARY}--\r\n".encode()


def own_address(number: int) -> tuple[str, int] | None:
    """One of the addresses of loopback, so that clients differ for the server; only on Linux."""
    if not sys.platform.startswith("linux"):
        return None
    return f"127.0.{1 + number // 250}.{2 + number % 250}", 0


class Load:
    """Clients that each send the next photo when they have the answer to the last."""

    def __init__(self, port: int, forms: list[bytes], clients: int, requests: int) -> None:
        self.port, self.forms, self.requests = port, forms, requests
        self.seconds: list[float] = []
        """How long each answer took."""
        self.wall = self.cpu_seconds = 0.0
        self._numbers = itertools.count()
        self._threads = [
            threading.Thread(target=self._ask, args=(number,), daemon=True)
            for number in range(clients)
        ]

    @property
    def answered(self) -> int:
        """How many requests were answered with a mask."""
        return len(self.seconds)

    @property
    def per_second(self) -> float:
        """Answers per second."""
        return self.answered / self.wall

    def percentile(self, percent: float) -> float:
        """The time within which so many percent were answered."""
        ordered = sorted(self.seconds)
        if not ordered:
            raise RecallsegError("The server answered nothing.")
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

    def start(self) -> None:
        """Let the clients begin."""
        self._start = time.perf_counter()
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """Wait until all of them are done."""
        for thread in self._threads:
            thread.join()
        self.wall = time.perf_counter() - self._start

    def _ask(self, client: int) -> None:
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        line = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=PATIENCE, source_address=own_address(client)
        )
        with contextlib.closing(line):
            while (number := next(self._numbers)) < self.requests:
                start = time.perf_counter()
                try:
                    line.request("POST", "/predict", self.forms[number % len(self.forms)], headers)
                    response = line.getresponse()
                    response.read()
                except (OSError, http.client.HTTPException):
                    line.close()
                    continue
                if response.status == 200:
                    self.seconds.append(time.perf_counter() - start)


class ServedModel:
    """`recallseg serve` over a run folder, on a free port."""

    def __init__(self, model: Path) -> None:
        words = [sys.executable, "-m", "recallseg", "serve", str(model), "--port", "0"]
        self._process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        self.port = self._told_port()

    def __enter__(self) -> "ServedModel":
        self._until(lambda: self._get("/readyz").startswith('{"status":"ready'), "ready")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        if self._process.stderr:
            self._process.stderr.close()

    def load(self, forms: list[bytes], clients: int, requests: int) -> Load:
        """What comes of sending so many requests."""
        load, cpu = Load(self.port, forms, clients, requests), self._cpu_seconds()
        load.start()
        load.finish()
        load.cpu_seconds = self._cpu_seconds() - cpu
        return load

    def metric(self, name: str) -> float:
        """A number that the server counts; 0 if it never has."""
        rows = [row.rsplit(" ", 1) for row in self._get("/metrics").splitlines()]
        return sum(float(value) for label, value in rows if label == name)

    def wait_for(self, name: str) -> float:
        """A number that the server counts, when it is no longer 0."""
        self._until(lambda: self.metric(name) > 0, name)
        return self.metric(name)

    def _until(self, happened: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not happened():
            if time.monotonic() > end:
                raise RecallsegError(f"The server does not come to this: {what}.")
            time.sleep(0.2)

    def _get(self, path: str) -> str:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(line):
            try:
                line.request("GET", path)
                return line.getresponse().read().decode()
            except (OSError, http.client.HTTPException):
                return ""

    def _told_port(self) -> int:
        """The port that the server says it listens on; without one, what it says instead."""
        said = []
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if match := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self._reader = threading.Thread(target=self._process.stderr.read, daemon=True)
                self._reader.start()
                return int(match[1])
            said.append(line)
        raise RecallsegError(f"The server does not start: {''.join(said)[-500:].strip()}")

    def _cpu_seconds(self) -> float:
        """CPU time of the server and the processes that it started; 0 where nothing tells it."""
        ticks = 0
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if self._process.pid in (int(folder.name), int(fields[1])):
                    ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


class SlowClients:
    """Connections that send a byte now and then, half of them of a head and half of a body."""

    def __init__(self, port: int, count: int) -> None:
        self.port, self.count = port, count
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._dribble, daemon=True)

    def __enter__(self) -> "SlowClients":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _dribble(self) -> None:
        """Keep so many connections, opened again when the server closes one."""
        lines: dict[int, socket.socket] = {}
        while not self._over.wait(0.5):
            for number in range(self.count):
                try:
                    if number not in lines:
                        lines[number] = self._opened(number)
                    lines[number].sendall(b"a")
                except OSError:
                    if number in lines:
                        lines.pop(number).close()
        for line in lines.values():
            line.close()

    def _opened(self, number: int) -> socket.socket:
        source = own_address(500 + number % 10)
        line = socket.create_connection(("127.0.0.1", self.port), 5, source)
        head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n"
        body = f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n".encode()
        start = photo_form(b"", "slow.jpg").partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        line.sendall(head + (body + start if number % 2 else b"X-Slow: "))
        return line
