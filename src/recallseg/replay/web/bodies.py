"""Reading the body of an answer: bounded in bytes and in time, and unpacked at most once."""

import time
import zlib
from collections.abc import Iterator

import httpx

from recallseg.replay.web.failures import FetchError

ACCEPTED = "gzip"
"""What the client says it can unpack; photos are compressed already, answers of APIs gain."""

_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


def read_body(response: httpx.Response, most: int, deadline: float) -> bytes:
    """The body of a streamed answer, of at most `most` bytes both as sent and unpacked.

    HTTP lets a server pack an answer several times over, so that kilobytes become gigabytes; here
    one packing is undone, a bounded piece at a time, and more than one is refused.
    """
    declared = response.headers.get("Content-Length", "")
    if declared.isdecimal() and int(declared) > most:
        raise FetchError("too many bytes")
    body = bytearray()
    for piece in _unpacked(_arriving(response, most, deadline), _window(response), most):
        body += piece
        if len(body) > most:
            raise FetchError("too many bytes")
    return bytes(body)


def _window(response: httpx.Response) -> int | None:
    """How zlib unpacks the answer; None if it is not packed."""
    packings = [
        word.strip().lower()
        for word in ",".join(response.headers.get_list("Content-Encoding")).split(",")
    ]
    packings = [word for word in packings if word not in ("", "identity")]
    if not packings:
        return None
    if len(packings) > 1 or packings[0] not in _WINDOWS:
        raise FetchError(f"packed as {', '.join(packings)[:60]}")
    return _WINDOWS[packings[0]]


def _arriving(response: httpx.Response, most: int, deadline: float) -> Iterator[bytes]:
    arrived = 0
    for chunk in response.iter_raw():
        arrived += len(chunk)
        if arrived > most:
            raise FetchError("too many bytes")
        if time.monotonic() > deadline:
            raise FetchError("no answer in time", "failed", retry=True)
        yield chunk


def _unpacked(chunks: Iterator[bytes], window: int | None, most: int) -> Iterator[bytes]:
    """The chunks unpacked, in pieces that are never longer than the rest of `most` and one byte."""
    if window is None:
        yield from chunks
        return
    unpacker, room = zlib.decompressobj(window), most + 1
    try:
        for chunk in chunks:
            while chunk and not unpacker.eof:
                piece = unpacker.decompress(chunk, room)
                room = max(1, room - len(piece))
                yield piece
                chunk = unpacker.unconsumed_tail
    except zlib.error as error:
        raise FetchError("cannot be unpacked") from error
    if not unpacker.eof:
        raise FetchError("connection failed", "failed", retry=True)
