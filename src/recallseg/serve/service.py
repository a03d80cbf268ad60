"""Complete requests on their way to an answer: a fair line, decoders, and threads with models.

A request waits as the bytes that came; a photo is decoded shortly before a model looks at it, so
that decoded photos never fill the memory. Threads look at photos of one size together.
"""

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from fastapi import HTTPException
from PIL import Image

from recallseg.data.decoders import Decoders, DecodingLimits
from recallseg.data.decoding import TooManyPixelsError
from recallseg.data.working_size import working_size
from recallseg.errors import RecallsegError
from recallseg.predict.timeline import Timeline
from recallseg.serve.limits import PHOTO_FORMATS, ServerLimits
from recallseg.serve.line import FairLine
from recallseg.serve.looking import Wish, answer, see
from recallseg.serve.meters import Meters
from recallseg.serve.uploads import Upload, try_again

BATCH, BATCHED_PIXELS = 8, 2**20
"""So many photos go through a model together; larger ones go alone."""
ENDING = 5.0
"""Seconds for threads to notice that nobody waits for them."""
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


class Service:
    """Everything between a complete request and its answer."""

    def __init__(self, runs: Mapping[str, Timeline], limits: ServerLimits, meters: Meters) -> None:
        self.runs, self.limits, self.meters = runs, limits, meters
        self.line: FairLine[Job] = FairLine(limits.waiting)
        self.is_stopping = False
        self.ready = ReadyPhotos(limits.workers)
        self._threads: list[threading.Thread] = []
        meters.waiting.set_function(lambda: len(self.line))

    @property
    def is_ready(self) -> bool:
        """Whether requests are taken and looked at."""
        return (
            not self.is_stopping
            and bool(self._threads)
            and all(thread.is_alive() for thread in self._threads)
        )

    def start(self) -> None:
        """Start processes, threads and tasks; called inside the event loop."""
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        decoding = DecodingLimits(PHOTO_FORMATS, self.limits.pixels, self.limits.decode_seconds)
        processes = max(2, self.limits.workers)
        self.decoders = Decoders(decoding, processes)
        self.meters.killed.set_function(lambda: self.decoders.killed)
        self._decode_threads = ThreadPoolExecutor(processes, thread_name_prefix="decode")
        self._tasks = [self._loop.create_task(self._decode_forever()) for _ in range(processes)]
        self._threads = [
            threading.Thread(target=self._look_forever, name=f"look-{number}", daemon=True)
            for number in range(self.limits.workers)
        ]
        for thread in self._threads:
            thread.start()

    async def answer(self, client: str, upload: Upload, notes: dict[str, Any]) -> bytes:
        """The answer to a request, when its turn has come."""
        wish = Wish.of(self.runs, upload.fields)
        deadline = time.monotonic() + self.limits.seconds
        job = Job(client, upload, wish, deadline, self._loop.create_future(), notes)
        if self.is_stopping:
            raise self._turned_away("stopping")
        if (other := self.line.add(client, job)) is not None:
            other.end(self._turned_away("full"))
        self._wake.set()
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await job.done
        finally:
            job.done.cancel()
            self.line.remove(client, job)

    def stop_taking(self) -> None:
        """Refuse new requests from now on, and those that wait when the grace is over."""
        self.is_stopping = True
        self._loop.call_later(self.limits.grace, self._refuse_waiting)

    def _refuse_waiting(self) -> None:
        for job in [*self.line.clear(), *self.ready.clear()]:
            job.end(self._turned_away("stopping"))

    def _turned_away(self, reason: str) -> HTTPException:
        self.meters.turned_away.labels(reason).inc()
        if reason == "stopping":
            return try_again("This server is about to stop; try again in 2 seconds.")
        sentence = f"{self.limits.waiting} requests are waiting already; try again in 2 seconds."
        return try_again(sentence)

    async def close(self) -> None:
        """End everything; what still waits is refused."""
        self.is_stopping = True
        self._refuse_waiting()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.ready.close()
        self.decoders.close()
        self._decode_threads.shutdown(wait=False, cancel_futures=True)
        for thread in self._threads:
            await asyncio.to_thread(thread.join, ENDING / len(self._threads))

    async def _decode_forever(self) -> None:
        while True:
            while not len(self.line) or not self.ready.has_room():
                self._wake.clear()
                await self._wake.wait()
            job = self.line.take()
            if not job.is_wanted:
                continue
            try:
                await self._loop.run_in_executor(self._decode_threads, self._decode, job)
            except Exception as error:
                job.end(error)
            else:
                self.ready.put(job)

    def _decode(self, job: Job) -> None:
        start = time.monotonic()
        try:
            photo = self.decoders.decode(
                job.upload.photo, "The upload", patience=max(0.0, job.deadline - start)
            )
        except TooManyPixelsError as error:
            raise HTTPException(413, str(error)) from error
        except RecallsegError as error:
            raise HTTPException(400, str(error)) from error
        job.notes["decode_seconds"] = round(time.monotonic() - start, 4)
        job.mask_size = job.wish.mask_size(photo, self.limits.mask_pixels)
        job.photo = photo

    def _look_forever(self) -> None:
        """What each thread with a model does, until there is nothing more to come."""
        cores = torch.get_num_threads()
        while jobs := self.ready.take():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake.set)
            torch.set_num_threads(max(1, cores // self.ready.busy))
            try:
                self._look([job for job in jobs if job.is_wanted])
            except BaseException as error:
                for job in jobs:
                    job.end(error)
            finally:
                self.ready.finish()

    def _look(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        now = time.monotonic()
        self.meters.batches.observe(len(jobs))
        for job in jobs:
            job.notes |= {"waited_seconds": round(now - job.arrived, 4), "batch": len(jobs)}
            self.meters.waited.observe(now - job.arrived)
        photos = [job.photo for job in jobs if job.photo is not None]
        wishes = [job.wish for job in jobs]
        for job, photo, seen in zip(
            jobs, photos, see(wishes, photos, partial(_check_wanted, jobs)), strict=True
        ):
            job.end(answer(job.wish, photo, job.mask_size, seen))


def _check_wanted(jobs: Sequence[Job]) -> None:
    if not any(job.is_wanted for job in jobs):
        raise TimeoutError


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
