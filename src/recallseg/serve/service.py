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
from functools import partial
from typing import Any

import torch
from fastapi import HTTPException

from recallseg.data.decoders import Decoders, DecodingLimits
from recallseg.data.decoding import TooManyPixelsError
from recallseg.errors import RecallsegError
from recallseg.predict.timeline import Timeline
from recallseg.serve.jobs import Job, ReadyPhotos
from recallseg.serve.limits import PHOTO_FORMATS, ServerLimits
from recallseg.serve.line import FairLine
from recallseg.serve.looking import Wish, answer, see
from recallseg.serve.meters import Meters
from recallseg.serve.uploads import Upload, try_again

ENDING = 5.0
"""Seconds for threads to notice that nobody waits for them."""


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
