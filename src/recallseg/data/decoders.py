"""Decoding photos from strangers in processes that are killed when they take too long.

A few kilobytes can keep a decoder busy for minutes, inside C code that no exception ends.
"""

import atexit
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO, cast

from PIL import Image

from recallseg.data.decoder_process import receive, send
from recallseg.data.decoding import TooManyPixelsError
from recallseg.errors import RecallsegError

Answer = tuple[dict[str, Any], bytearray] | None
"""The header and the bytes that a process sent; None if it is gone."""
STARTING = 120.0
"""Seconds after which a process that has not imported its modules never will."""


class SlowPhotoError(RecallsegError):
    """A photo was not decoded within its time."""


@dataclass(frozen=True)
class DecodingLimits:
    """What a photo may cost before it is a photo."""

    formats: tuple[str, ...]
    """Pillow's names of the formats that are tried; it knows more, some of which start programs."""
    pixels: int = 40_000_000
    """By the header of the file, before anything is decoded."""
    seconds: float = 10.0
    bytes_per_pixel: int = 24
    """A progressive JPEG needs 9, and turning it upright 3 more."""

    @property
    def memory(self) -> int:
        """The address space of a decoding process."""
        return 500_000_000 + self.pixels * self.bytes_per_pixel


class Decoders:
    """Some decoding processes, each of which decodes one photo at a time; threads share them."""

    def __init__(self, limits: DecodingLimits, processes: int) -> None:
        self.limits = limits
        self.killed = 0
        """How many processes were ended because a photo took too long."""
        self._all = [_Decoder(limits.memory) for _ in range(processes)]
        self._free: queue.SimpleQueue[_Decoder] = queue.SimpleQueue()
        for decoder in self._all:
            self._free.put(decoder)

    def start(self) -> None:
        """Start all processes now instead of when each is first needed."""
        for decoder in self._all:
            decoder.start()

    def decode(self, data: bytes, called: str, patience: float | None = None) -> Image.Image:
        """An upright RGB photo from the bytes of a file; errors name it as it is `called`.

        `patience` bounds the seconds together with those spent waiting for a free process.
        """
        end = None if patience is None else time.monotonic() + patience
        try:
            decoder = self._free.get(timeout=patience)
        except queue.Empty as error:
            raise SlowPhotoError(f"{called} was not decoded: too many others are.") from error
        try:
            return self._decode(decoder, data, called, end)
        finally:
            self._free.put(decoder)

    def _decode(
        self, decoder: "_Decoder", data: bytes, called: str, end: float | None
    ) -> Image.Image:
        seconds = self.limits.seconds
        if end is not None:
            seconds = min(seconds, max(0.0, end - time.monotonic()))
        request = {
            "called": called,
            "formats": self.limits.formats,
            "max_pixels": self.limits.pixels,
            "seconds": self.limits.seconds,
        }
        answer = decoder.ask(request, data, seconds)
        if answer is None:
            self.killed += 1
            raise SlowPhotoError(
                f"{called} was not decoded within {seconds:.3g} seconds; save it again as a plain "
                "JPEG or PNG, or make it smaller."
            )
        header, pixels = answer
        if "size" in header:
            return Image.frombuffer("RGB", tuple(header["size"]), pixels)
        if "too_large" in header:
            raise TooManyPixelsError(header["too_large"])
        raise RecallsegError(header["error"])

    def close(self) -> None:
        """End the processes."""
        for decoder in self._all:
            decoder.end()


class _Decoder:
    """One process; a new one takes its place when it is gone."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False

    def ask(self, header: dict[str, Any], data: bytes, seconds: float) -> Answer:
        """The process's answer; None if it died or had to be killed, and then there is a new one.

        The time that a process needs to start does not count.
        """
        self.start()
        if not self._ready and self._within(STARTING, self._receive) is None:
            raise RecallsegError(f"Photos cannot be decoded: {sys.executable} does not start.")
        self._ready = True
        answer = self._within(seconds, lambda: self._exchange(header, data))
        if answer is None:
            self.end()  # one that is being killed closes its pipes a moment before it is gone
            self.start()
        return answer

    def _within(self, seconds: float, work: Callable[[], Answer]) -> Answer:
        """What the work gives, which ends early if the process is killed after some seconds."""
        assert self._process is not None
        alarm = threading.Timer(seconds, self._process.kill)
        alarm.start()
        try:
            return work()
        finally:
            alarm.cancel()
            alarm.join()

    def _exchange(self, header: dict[str, Any], data: bytes) -> Answer:
        assert self._process is not None
        try:
            send(cast(BinaryIO, self._process.stdin), header, data)
        except (BrokenPipeError, ValueError):
            return None
        return self._receive()

    def _receive(self) -> Answer:
        assert self._process is not None
        return receive(cast(BinaryIO, self._process.stdout))

    def start(self) -> None:
        """Make sure that there is a process.

        A Ctrl-C in the terminal does not reach it, so that work can be finished.
        """
        if self._process is not None and self._process.poll() is None:
            return
        self.end()
        self._ready = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recallseg.data.decoder_process", str(self.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )

    def end(self) -> None:
        """Kill the process, if there is one, and close what connects it."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


@cache
def shared_decoders(limits: DecodingLimits) -> Decoders:
    """One process for whoever decodes a photo now and then; it ends with this one."""
    decoders = Decoders(limits, processes=1)
    atexit.register(decoders.close)
    return decoders
