"""A process that decodes photos from strangers; `decoders.py` starts it, and ends it when it must.

It reads requests from standard input and writes answers to standard output. Each of them is the
length of a JSON header in four bytes, the header, and as many bytes as it says. It knows nothing of
PyTorch, so that another one is quickly there.
"""

import io
import json
import math
import struct
import sys
import time
from typing import Any, BinaryIO

from PIL import Image

from recallseg.data.decoding import TooManyPixelsError, decode_photo
from recallseg.errors import RecallsegError

LENGTH = struct.Struct(">I")


def main() -> None:
    """Decode until standard input ends; the only argument is the memory that this may take.

    The first answer, to no request, says that everything is imported.
    """
    _limit_everything(int(sys.argv[1]))
    Image.init()
    send(sys.stdout.buffer, {}, b"")
    while (request := receive(sys.stdin.buffer)) is not None:
        header, data = request
        _limit_seconds(float(header["seconds"]))
        send(sys.stdout.buffer, *_answer(header, data))


def _answer(header: dict[str, Any], data: bytearray) -> tuple[dict[str, Any], bytes]:
    try:
        photo = decode_photo(
            io.BytesIO(data),
            header["called"],
            formats=tuple(header["formats"]),
            max_pixels=header["max_pixels"],
        )
        return {"size": photo.size}, photo.tobytes()
    except TooManyPixelsError as error:
        return {"too_large": str(error)}, b""
    except RecallsegError as error:
        return {"error": str(error)}, b""
    except MemoryError:
        return {"error": f"{header['called']} needs too much memory to be decoded."}, b""


def send(stream: BinaryIO, header: dict[str, Any], data: bytes) -> None:
    """Write a header and the bytes that belong to it."""
    head = json.dumps(header | {"length": len(data)}).encode()
    stream.write(LENGTH.pack(len(head)) + head)
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], bytearray] | None:
    """What `send` wrote; None where the stream ends, also in the middle."""
    length = stream.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    head = stream.read(LENGTH.unpack(length)[0])
    try:
        header = json.loads(head)
    except ValueError:
        return None
    data = bytearray(header["length"])
    if stream.readinto(data) < len(data):  # type: ignore[attr-defined]
        return None
    return header, data


def _limit_everything(memory: int) -> None:
    """Bound the memory, and allow no file to be written and no core to be dumped."""
    try:
        import resource
    except ImportError:  # not on Windows, where only the time is limited
        return
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _limit_seconds(seconds: float) -> None:
    """End this process when a photo takes more CPU time, even if nobody is left to kill it."""
    try:
        import resource
    except ImportError:
        return
    most = math.ceil(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
