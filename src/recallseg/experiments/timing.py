"""Times that can be compared on a machine that does other things too: all taken in turns."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from recallseg.engine.session.shared import STEP_0
from recallseg.files import cache_root

ROUNDS = 7


def seconds_of(work: Callable[[], object]) -> float:
    """How long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(works: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The median seconds of each piece of work; all are done in turns, after a turn to warm up."""
    for work in works.values():
        work()
    times = [{name: seconds_of(work) for name, work in works.items()} for _ in range(rounds)]
    return {name: statistics.median(each[name] for each in times) for name in works}


class Stolen:
    """How much of this machine's processor time its host gave to others, from now on."""

    def __init__(self) -> None:
        self.before = _processor_time()

    def share(self) -> float | None:
        """From 0 to 1; None where it cannot be known."""
        now = _processor_time()
        if self.before is None or now is None:
            return None
        stolen, whole = (after - before for before, after in zip(self.before, now, strict=True))
        return stolen / max(1, whole)


def _processor_time() -> tuple[int, int] | None:
    """Ticks that were stolen, and all, since a Linux machine was started."""
    try:
        words = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    except (OSError, IndexError):
        return None
    ticks = [int(word) for word in words]
    return (ticks[7], sum(ticks)) if len(ticks) == 8 else None


@contextmanager
def separate_cache() -> Iterator[Path]:
    """A temporary folder with a cache that has no features in it, but the shared step 0."""
    shared = cache_root()
    (shared / STEP_0).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="recallseg-bench-", dir=shared) as name:
        folder = Path(name)
        (folder / "cache").mkdir()
        (folder / "cache" / STEP_0).symlink_to(shared / STEP_0)
        apart = {"RECALLSEG_CACHE": str(folder / "cache"), "RECALLSEG_BANK": ""}
        with mock.patch.dict(os.environ, apart):
            yield folder
