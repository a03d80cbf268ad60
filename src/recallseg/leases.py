"""Who is at work where, so that a second command waits, or ends in a sentence.

A lease is a file with the host, the process and its start time, touched every few seconds. That of
a dead process is taken over: at once on its own host, elsewhere when it stays untouched for long.
"""

import contextlib
import functools
import os
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import AcquireReturnProxy, SoftFileLease, Timeout

from recallseg.checksums import TEMPORARY
from recallseg.errors import RecallsegError
from recallseg.files import cache_root, readable_disk_errors, remove_tree

SECONDS = 30.0
"""A lease on another host that was not touched for so long belongs to nobody."""
EMPTY_SECONDS = 2.0
"""A lease that names nobody for so long belongs to nobody."""
LONG_AGO = 24 * 3600.0
"""Seconds after which nobody writes into a temporary folder of the cache any more."""
USERS = ".users"
"""In the cache: a lease of every process that uses it."""
CLEARING = ".clearing"
"""In the cache: the lease of whoever deletes parts of it."""

Say = Callable[[str], None]
Held = AcquireReturnProxy[SoftFileLease]
"""Gives the lease back at the end of a `with` block."""


def is_first_process() -> bool:
    """Whether this is not one of the processes that the first one of a run started or leads.

    `torchrun` and SLURM number all of a run, Fabric's own launcher machines and their processes.
    """
    for number in ("RANK", "SLURM_PROCID"):
        if number in os.environ:
            return os.environ[number] == "0"
    return all(os.environ.get(number, "0") == "0" for number in ("NODE_RANK", "LOCAL_RANK"))


@contextlib.contextmanager
def alone(path: Path, busy: str, say: Say = lambda _: None) -> Iterator[None]:
    """Hold the lease at `path`; if a living process holds it, `busy` and its name are the error.

    A process may hold it twice, one inside the other.
    """
    if not is_first_process():
        yield
        return
    lease = _lease(path)
    if (held := _taken(lease, say)) is None:
        raise RecallsegError(f"{busy} {_holder(lease)}; wait for it to end, or stop it.")
    with held:
        yield


@contextlib.contextmanager
def in_turn(path: Path, waiting: str, say: Say, leads: bool | None = None) -> Iterator[None]:
    """Hold the lease at `path`, after whoever holds it; `waiting` is said if that takes a while.

    Of the processes of a run only one that `leads` takes it, by default the first.
    """
    if not (is_first_process() if leads is None else leads):
        yield
        return
    with _in_turn(_lease(path), waiting, say):
        yield


def lease_beside(path: Path) -> Path:
    """Where the lease on a file or folder lies that may not be there yet, or be replaced."""
    return path.with_name(f".{path.name}.lease")


class Users:
    """The living processes that use something, each of which has a lease in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def joined(self) -> Iterator[None]:
        """Be one of them."""
        with _in_turn(_lease(self.folder / uuid.uuid4().hex), "waiting for", lambda _: None):
            yield

    def others(self) -> list[str]:
        """The processes besides this one, in words; what dead ones left is removed."""
        found = []
        for path in sorted(self.folder.glob("[!.]*")):
            lease = _lease(path)
            if lease.is_lock_held_by_us:
                continue
            if held := _taken(lease, lambda _: None):
                held.lock.release()
            else:
                found.append(_holder(lease))
        return found


@contextlib.contextmanager
def cache_in_use() -> Iterator[None]:
    """Use the cache: nobody empties it meanwhile, and what killed processes left is swept."""
    if not is_first_process():
        yield
        return
    root = cache_root()
    users = Users(root / USERS)
    with users.joined():
        with in_turn(root / CLEARING, "waiting for the cache, which is emptied by", lambda _: None):
            if not users.others():
                _sweep(root)
        yield


def _sweep(root: Path) -> None:
    """Delete what was being written when a process was killed, long ago.

    A version that left no leases may still be writing what is younger.
    """
    before = time.time() - LONG_AGO
    for path in (*root.glob(f"*/.*{TEMPORARY}"), *root.glob(f"*/*/.*{TEMPORARY}")):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < before:
                remove_tree(path)


@contextlib.contextmanager
def cache_unused() -> Iterator[None]:
    """Keep everyone out of the cache; if somebody uses it, that is an error."""
    root = cache_root()
    with in_turn(root / CLEARING, "waiting for", lambda _: None):
        if others := Users(root / USERS).others():
            raise RecallsegError(
                f"The cache {root} is in use by {', '.join(others)}; nothing was deleted. Wait for "
                "it to end, or stop it."
            )
        yield


def _lease(path: Path) -> SoftFileLease:
    return SoftFileLease(
        path.absolute(), lease_duration=SECONDS, heartbeat_interval=SECONDS / 6, is_singleton=True
    )


def _in_turn(lease: SoftFileLease, waiting: str, say: Say) -> Held:
    path = Path(lease.lock_file)
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if held := _acquired(lease, seconds=1):
            return held
        say(f"{waiting} {_holder(lease)}")
        while not (held := _acquired(lease, seconds=SECONDS)):
            pass
        return held


def _taken(lease: SoftFileLease, say: Say) -> Held | None:
    """Take a lease unless a living process holds it.

    Whether a process of another host lives is seen by its lease being touched.
    """
    with readable_disk_errors(Path(lease.lock_file)):
        if held := _acquired(lease, seconds=0):
            return held
        owner = lease.owner
        if owner is not None and owner.hostname == _this_host():
            return None
        say(f"looking for {SECONDS:.0f} s whether {_holder(lease)} still lives")
        return _acquired(lease, seconds=SECONDS + 5)


def _acquired(lease: SoftFileLease, seconds: float) -> Held | None:
    """Take a lease that is free, or becomes free in so many seconds."""
    with contextlib.suppress(Timeout):
        return lease.acquire(timeout=0)
    _drop_if_empty(Path(lease.lock_file))
    with contextlib.suppress(Timeout):
        return lease.acquire(timeout=seconds)
    return None


def _drop_if_empty(path: Path) -> None:
    """Delete a lease that stays without a name: its process was killed before it wrote one.

    To filelock such a file is a lock of an old version, which nobody may ever take over.
    """
    began, first = time.monotonic(), _identity_if_empty(path)
    while first is not None and _identity_if_empty(path) == first:
        if time.monotonic() - began < EMPTY_SECONDS:
            time.sleep(EMPTY_SECONDS / 20)
            continue
        aside = path.with_name(f"{path.name}.empty.{uuid.uuid4().hex}")
        with contextlib.suppress(FileNotFoundError):
            path.rename(aside)
            if aside.stat().st_size:  # somebody else was quicker, and this is the new lease: back
                with contextlib.suppress(FileExistsError):
                    path.hardlink_to(aside)
            aside.unlink()


def _identity_if_empty(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(FileNotFoundError):
        seen = path.stat()
        return None if seen.st_size else (seen.st_ino, seen.st_mtime_ns)
    return None


def _holder(lease: SoftFileLease) -> str:
    owner = lease.owner
    if owner is None:
        return "another process"
    return f"process {owner.pid} on {owner.hostname.partition('?')[0] or 'this host'}"


@functools.cache
def _this_host() -> str:
    """How a lease names this host: as one that is taken for the purpose does."""
    with tempfile.TemporaryDirectory() as folder, _lease(Path(folder) / "lease") as lease:
        owner = lease.owner
        return owner.hostname if owner else ""
