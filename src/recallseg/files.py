"""Writing files so that a kill at any moment leaves either the old file or the new one."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from recallseg.checksums import TEMPORARY, digest, expect, flush
from recallseg.errors import RecallsegError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FULL_IN_OTHER_WORDS = ("No space left", "PytorchStreamWriter failed", "inline_container.cc")
"""How safetensors and torch say it, which raise errors of their own."""


@contextlib.contextmanager
def readable_disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk or a missing permission under `path` into a sentence."""
    try:
        yield
    except RecallsegError:
        raise
    except Exception as error:
        number = error.errno if isinstance(error, OSError) else None
        if number in FULL or any(words in str(error) for words in FULL_IN_OTHER_WORDS):
            raise RecallsegError(
                f"The disk that holds {path} is full; free some space and run the same command "
                "again. Nothing written earlier was lost."
            ) from error
        if number in (errno.EACCES, errno.EROFS, errno.EPERM):
            raise RecallsegError(f"No permission to write {path}.") from error
        raise


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, and move it there if the block raises no error.

    Works for a file and for a folder that does not exist yet. Where a folder around it keeps
    checksums, they are noted and everything is on the disk before the move.
    """
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=TEMPORARY, dir=path.parent))
        try:
            yield scratch / path.name
            if (scratch / path.name).is_file():
                _give_usual_mode(scratch / path.name)
            is_noted = expect(path, scratch / path.name)
            _move(scratch / path.name, path)
            if is_noted:
                flush(path.parent)
        finally:
            remove_tree(scratch)


def _move(made: Path, path: Path) -> None:
    """Move what was made to its path; a folder that another process put there meanwhile stays.

    Both were made from the same, or the second command would have been turned away.
    """
    try:
        made.replace(path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not made.is_dir():
            raise


def remove_tree(path: Path) -> None:
    """Delete a file or a folder with everything in it, as far as that is allowed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _give_usual_mode(path: Path) -> None:
    """Set the permissions that the user's umask asks for; some libraries allow only the owner."""
    usual = path.with_name("usual")
    usual.touch()
    path.chmod(usual.stat().st_mode)


def reserve(file: IO[bytes], start: int, length: int, path: Path) -> None:
    """Make sure that a part of a file under `path` can be written through a memory map.

    If the disk is full when a mapped page is written, the process dies without a message.
    """
    with readable_disk_errors(path):
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), start, length)


def write_text(path: Path, text: str) -> None:
    """Replace the content of `path` by `text`, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401
    """Replace the content of `path` by `value` as JSON, atomically; NaN is refused."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, with or without the mark that some editors begin it with."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecallsegError(
            f"{path} is not text in UTF-8: byte {error.object[error.start]:#x} at position "
            f"{error.start}; save it in that encoding."
        ) from None


def check_name(path: Path) -> None:
    """Refuse a file whose name is not UTF-8: it could be written down nowhere."""
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise RecallsegError(
            f"The name of {str(path)!r} is not in UTF-8; rename the file."
        ) from None


def cache_root() -> Path:
    """The folder for what can be computed again: `$RECALLSEG_CACHE`, or the user's cache."""
    if folder := os.environ.get("RECALLSEG_CACHE"):
        return Path(folder).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "recallseg"


def bank_root() -> Path:
    """The folder for stored features: `$RECALLSEG_BANK`, which may be on a machine's own disk where
    the cache is shared by several, or a part of the cache."""
    folder = os.environ.get("RECALLSEG_BANK")
    return Path(folder).expanduser() if folder else cache_root() / "bank"


def check_regular(path: Path) -> os.stat_result:
    """The status of a file; a pipe or a device, which may never end, is refused unopened."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise RecallsegError(f"{path} is a folder, a pipe or a device; put a regular file there.")
    return status


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content, computed once for as long as the file does not change."""
    try:
        check_regular(path)
        return digest(path)
    except FileNotFoundError:
        raise RecallsegError(f"{path} does not exist, or is a link to nothing.") from None


def content_key(*parts: Any) -> str:  # noqa: ANN401
    """A short hash of everything that an artifact depends on; parts are JSON values."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
