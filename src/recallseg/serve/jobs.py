"""Requests that are being served, and those whose photos are decoded and wait for a model."""

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from recallseg.data.working_size import working_size
from recallseg.serve.looking import Wish
from recallseg.serve.uploads import Upload

BATCH, BATCHED_PIXELS = 8, 2**20
"""So many photos go through a model together; larger ones go alone."""
READY, READY_PIXELS = 16, 80_000_000
"""So many decoded photos wait for each thread, and so many pixels for all of them."""


@dataclass(eq=False)
class Job:
    """A complete request and what has become of it."""

    client: str
    upload: Upload
    wish: Wish
    deadline: float
    done: "asyncio.Future[bytes]"
    notes: dict[str, Any]
    arrived: float = field(default_factory=time.monotonic)
    photo: Image.Image | None = None
    mask_size: tuple[int, int] = (0, 0)

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for it."""
        return not self.done.done() and time.monotonic() < self.deadline

    @property
    def group(self) -> object:
        """What jobs must have in common to go through a model together."""
        assert self.photo is not None
        if self.photo.width * self.photo.height > BATCHED_PIXELS:
            return id(self)
        run = self.wish.run
        return id(run), self.wish.steps, working_size(self.photo.size, run.models.working_side)

    def end(self, result: bytes | BaseException) -> None:
        """Give whoever waits an answer or an error, from any thread."""
        with suppress(RuntimeError):  # the server is gone, and so is whoever waited
            self.done.get_loop().call_soon_threadsafe(self._end, result)

    def _end(self, result: bytes | BaseException) -> None:
        if self.done.done():
            return
        if isinstance(result, bytes):
            self.done.set_result(result)
        else:
            self.done.set_exception(result)


class ReadyPhotos:
    """A few decoded photos between the event loop and the threads with models."""

    def __init__(self, threads: int) -> None:
        self.threads, self.busy = threads, 0
        self._jobs: list[Job] = []
        self._changed = threading.Condition()
        self._is_open = True

    def __len__(self) -> int:
        return len(self._jobs)

    def has_room(self) -> bool:
        """Whether another photo should be decoded."""
        with self._changed:
            pixels = sum(job.photo.width * job.photo.height for job in self._jobs if job.photo)
            return len(self._jobs) < READY * self.threads and pixels < READY_PIXELS

    def put(self, job: Job) -> None:
        """Hand over a decoded photo."""
        with self._changed:
            self._jobs.append(job)
            self._changed.notify()

    def take(self) -> list[Job]:
        """Photos to look at together, the oldest among them; none when it is over.

        They are shared out among the threads that have nothing to do.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or not self._is_open)
            if not self._is_open:
                return []
            idle = max(1, self.threads - self.busy)
            most = min(BATCH, -(-len(self._jobs) // idle))
            group = self._jobs[0].group
            chosen = [job for job in self._jobs if job.group == group][:most]
            self._jobs = [job for job in self._jobs if job not in chosen]
            self.busy += 1
            return chosen

    def finish(self) -> None:
        """Tell that the photos taken were looked at."""
        with self._changed:
            self.busy -= 1

    def clear(self) -> list[Job]:
        """Take everything out."""
        with self._changed:
            jobs, self._jobs = self._jobs, []
            return jobs

    def close(self) -> None:
        """Let the threads end."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
