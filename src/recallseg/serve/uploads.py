"""Reading an upload without ever writing it to disk."""

import asyncio
import logging
import math
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass

from fastapi import HTTPException, Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

CLOSE = {"Connection": "close"}
"""Ends the connection behind a refusal, so that the rest of a long request is never read."""

logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
"""It would write a line for every bad request, so that strangers fill the log of the server."""

PATIENCE = 5.0
"""Seconds for which a client that was refused is still listened to."""


class InMemoryParser(MultiPartParser):
    """Starlette's parser, which would keep uploads above a size in temporary files."""

    spool_max_size = sys.maxsize


@dataclass(frozen=True)
class Upload:
    """A photo's bytes and the fields that came with it."""

    photo: bytes
    fields: dict[str, str]


async def read_upload(request: Request, most: int, grow: Callable[[int], None]) -> Upload:
    """The upload of a multipart request of at most `most` bytes; anything else is refused.

    `grow` is told of every piece that arrives, and may raise to end it.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > most:
        raise too_large(most)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise HTTPException(415, "Send multipart/form-data with a photo in the field 'file'.")
    stream = _at_most(request.stream(), most, grow)
    parser = InMemoryParser(request.headers, stream, max_files=1, max_fields=8, max_part_size=1000)
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ClientDisconnect) as error:
        raise HTTPException(400, "The request is no sound multipart/form-data.", CLOSE) from error
    try:
        return await _checked(form)
    finally:
        await form.close()


async def _checked(form: FormData) -> Upload:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise HTTPException(422, "The field 'file' is missing; it holds the photo.")
    if file.filename and set(file.filename) & set("/\\\0"):
        raise HTTPException(400, "The name of the file holds a path; send the bare name.")
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    return Upload(await file.read(), fields)


async def drain(request: Request, most: int) -> None:
    """Read what a refused client is still sending, so that it gets to read the refusal."""
    read = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while read <= most:
                message = await request.receive()
                read += len(message.get("body", b""))
                if not message.get("more_body"):
                    return


async def _at_most(
    stream: AsyncGenerator[bytes, None], most: int, grow: Callable[[int], None]
) -> AsyncGenerator[bytes, None]:
    read = 0
    async for chunk in stream:
        read += len(chunk)
        if read > most:
            raise too_large(most)
        grow(len(chunk))
        yield chunk


def too_large(most: int) -> HTTPException:
    """The refusal of an upload that is too long."""
    return HTTPException(413, f"The upload is larger than {most / 1e6:g} MB.", CLOSE)


def try_again(sentence: str, code: int = 503, wait: float = 2.0) -> HTTPException:
    """The refusal of a request that may come again later."""
    return HTTPException(code, sentence, {"Retry-After": str(math.ceil(wait))} | CLOSE)
