"""One thread that looks at photos, and a short queue before it."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


class BusyError(Exception):
    """As many requests as are allowed are being served."""


class Worker:
    """Does one job at a time; a request that comes when too many wait is turned away at once.

    A place is taken before an upload is read, so that waiting uploads cannot fill the memory.
    """

    def __init__(self, places: int) -> None:
        self.places, self.taken = places, 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recallseg")

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among those who are served; called from the event loop only."""
        if self.taken >= self.places:
            raise BusyError
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1

    async def do(self, job: Callable[[], Result]) -> Result:
        """The job's result; a job that is no longer waited for before it begins is dropped."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def close(self) -> None:
        """Drop what waits."""
        self._thread.shutdown(wait=False, cancel_futures=True)
