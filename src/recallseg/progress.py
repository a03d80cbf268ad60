"""Process many files on all cores, with a progress bar on standard error."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from rich.console import Console
from rich.progress import track

Item = TypeVar("Item")
Result = TypeVar("Result")


def messages() -> Console:
    """The console for everything but the command's output: standard error."""
    return Console(stderr=True)


def tracked(items: Iterable[Item], description: str, total: int) -> Iterable[Item]:
    """The same items, with a progress bar if standard error is a terminal."""
    console = messages()
    if not console.is_terminal:
        return items
    return track(items, description, total=total, console=console, transient=True)


def map_files(
    function: Callable[[Item], Result], items: Sequence[Item], description: str
) -> list[Result]:
    """`[function(item) for item in items]` on threads; decoding images releases Python's lock."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
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
    with ThreadPoolExecutor(max_workers=min(ahead, os.cpu_count() or 1), initializer=start) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
