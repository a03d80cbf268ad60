"""How far work has come: bars or lines on standard error, and calls to a program that listens.

Also many files on all cores, with such a bar.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from recallseg.waiting import usable_cores

Item = TypeVar("Item")
Result = TypeVar("Result")

SECONDS_BETWEEN_LINES = 15.0
"""Away from a terminal, how often work says how far it has come."""


@dataclass(frozen=True)
class ProgressReport:
    """How far one piece of work has come."""

    phase: str
    """What is being done, such as `step 1` or `evaluate step 1`."""
    done: int
    total: int
    text: str = ""
    """What there is to say of it, such as the loss."""


Listener = Callable[[ProgressReport], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Tell `listener` of all progress in the meantime; what it raises ends the work."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(report: ProgressReport) -> None:
    """Tell whoever listens."""
    if (listener := _listener.get()) is not None:
        listener(report)


def messages() -> Console:
    """The console for everything but the command's output: standard error."""
    return Console(stderr=True)


def tracked(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """The same items, with a progress bar on a terminal and a line now and then elsewhere."""
    console = messages()
    if console.is_terminal:
        items = track(items, description, total=total, console=console, transient=True)
    spoken = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        tell(ProgressReport(description, done, total))
        if not console.is_terminal and time.monotonic() - spoken > SECONDS_BETWEEN_LINES:
            spoken = time.monotonic()
            console.print(f"{description}: {done}/{total}", highlight=False, markup=False)


@contextmanager
def waiting(description: str) -> Iterator[None]:
    """Show that work without parts goes on: a spinner on a terminal, one line elsewhere."""
    console = messages()
    if console.is_terminal:
        with console.status(description):
            yield
    else:
        console.print(f"{description} …", highlight=False, markup=False)
        yield


def map_files(
    function: Callable[[Item], Result], items: Sequence[Item], description: str
) -> list[Result]:
    """`[function(item) for item in items]` on threads; decoding images releases Python's lock."""
    with ThreadPoolExecutor(max_workers=usable_cores()) as pool:
        return list(tracked(pool.map(function, items), description, len(items)))


def prefetch(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    ahead: int = 4,
    start: Callable[[], None] | None = None,
) -> Iterator[Result]:
    """`map(function, items)` in order, with up to `ahead` results computed early by threads.

    Each of those threads calls `start` first.
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(max_workers=min(ahead, usable_cores()), initializer=start) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
