"""What the files of a folder must hold: a SHA-256 of each, in one file of the folder.

`files.atomic_path` notes what it is about to write before it is there, so that a kill at any moment
leaves files that are as noted. Whoever opens a file again checks it first. A folder without the
list is of an older version, or was given up by its owner: it is opened unchecked.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from recallseg.errors import RecallsegError

CHECKSUMS = "checksums.json"
TEMPORARY = ".tmp"
"""Suffix of temporary folders, in which files are written before they are moved to their path."""
DEPTH = 4
"""A file lies at most that many folders below the list that names it."""

Sums = dict[str, list[str]]
"""For each file, the checksum of what it holds, and of what it held before if that may still be."""

_SUMS = TypeAdapter(Sums)

DIGESTS: dict[tuple[Path, int, int, int], str] = {}
"""What is known of the content of files in this process, by path, size, time and node."""


class DamagedError(RecallsegError):
    """A file does not hold what was written."""


def digest(path: Path) -> str:
    """SHA-256 of a file's content, computed once for as long as the file does not change."""
    status = path.stat()
    state = (path, status.st_size, status.st_mtime_ns, status.st_ino)
    if state not in DIGESTS:
        with path.open("rb") as file:
            DIGESTS[state] = hashlib.file_digest(file, "sha256").hexdigest()
    return DIGESTS[state]


def sealed_folder(path: Path) -> Path | None:
    """The folder around a file that keeps checksums, if one does."""
    path = path.absolute()
    for folder in list(path.parents)[:DEPTH]:
        if (folder / CHECKSUMS).is_file():
            inner = path.relative_to(folder).parts
            return None if any(part.endswith(TEMPORARY) for part in inner) else folder
    return None


def seal(folder: Path) -> None:
    """Keep checksums in a folder from now on; what it holds already is taken as it is."""
    if not (folder / CHECKSUMS).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        names = [path for path in _files(folder) if not path.name.startswith(".")]
        _write(folder, {_name(folder, path): [digest(path)] for path in names})


def expect(path: Path, made: Path) -> bool:
    """Note that `path` will hold what `made` holds, a file or a folder, and put that on the disk.

    False where no folder around it keeps checksums.
    """
    folder = sealed_folder(path)
    if folder is None:
        return False
    paths = {file: path / file.relative_to(made) for file in _files(made)}
    if made.is_file():
        paths = {made: path}
    with _one_at_a_time(folder):
        sums = read_sums(folder)
        for file, target in paths.items():
            flush(file)
            name, new = _name(folder, target.absolute()), digest(file)
            before = sums.get(name, [])[-1:] if target.exists() else []
            sums[name] = [*(one for one in before if one != new), new]
        _write(folder, sums)
    return True


def forget_absent(folder: Path) -> None:
    """Drop the checksums of files that are not there any more."""
    if (folder / CHECKSUMS).is_file():
        with _one_at_a_time(folder):
            sums = read_sums(folder)
            left = {name: sums[name] for name in sums if (folder / name).is_file()}
            if left != sums:
                _write(folder, left)


def check(path: Path) -> Path:
    """The path of a file that holds what was written into it; a damaged one is an error."""
    folder = sealed_folder(path)
    if folder is None or _is_as_noted(folder, path) or _is_as_noted(folder, path):
        return path
    raise DamagedError(
        f"{path} is damaged: it is not what recallseg wrote there (see {CHECKSUMS}). Put back a "
        "copy of it, go back to a step before it with `recallseg rollback` and learn again, or "
        "train the model again in a new folder."
    )


def _is_as_noted(folder: Path, path: Path) -> bool:
    """Whether a file is as noted, or not there; one written meanwhile is when looked at again."""
    path = path.absolute()
    noted = read_sums(folder).get(_name(folder, path), [])
    return not path.is_file() or digest(path) in noted


def is_damaged(folder: Path) -> bool:
    """Whether a folder that keeps checksums lacks a file, or has one that was not written so."""
    if not (folder / CHECKSUMS).is_file():
        return False
    try:
        sums = read_sums(folder)
        return not all((folder / name).is_file() and check(folder / name) for name in sums)
    except (RecallsegError, OSError):
        return True


def read_sums(folder: Path) -> Sums:
    """The checksums of a folder by the names of its files."""
    path = folder / CHECKSUMS
    try:
        return _SUMS.validate_json(path.read_bytes())
    except (ValidationError, OSError):
        raise DamagedError(
            f"{path} is damaged, so nothing in {folder} can be checked any more. If you trust what "
            "is there, delete the file; the next `recallseg learn` or `run` writes it again."
        ) from None


def flush(path: Path) -> None:
    """Have a file or a folder on the disk, not only on its way there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.absolute().rglob("*")) if path.is_file())


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder.absolute()).as_posix()


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Keep others from writing the list between its being read and being written.

    Where a file system cannot lock folders, the lease on a run folder has to do.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(folder: Path, sums: Sums) -> None:
    scratch = folder / f".{CHECKSUMS}.{os.getpid()}{TEMPORARY}"
    with scratch.open("w", encoding="utf-8") as file:
        json.dump(sums, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(folder / CHECKSUMS)
    flush(folder)
