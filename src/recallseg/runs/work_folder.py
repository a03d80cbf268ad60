"""A folder that one process at a time changes."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from recallseg.checksums import TEMPORARY
from recallseg.files import readable_disk_errors, remove_tree
from recallseg.leases import Say, alone, in_turn, is_first_process


class WorkFolder:
    """Who is at work in a folder; others are turned away, or wait."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lease = path / ".lease"
        """Who is at work here; only while somebody is."""

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Be the only process that changes the folder; another one at work there is an error.

        What a killed one was just writing is swept. A folder that was not there, and into which
        nothing was written, is gone afterwards.
        """
        was_there = self.path.is_dir()
        with readable_disk_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        try:
            with alone(self._lease, f"{self.path} is being worked on by"):
                if is_first_process():
                    for unfinished in list(self.path.rglob(f".*{TEMPORARY}")):
                        remove_tree(unfinished)
                yield
        finally:
            with contextlib.suppress(OSError):
                if not was_there:
                    self.path.rmdir()

    def in_turn(self, say: Say) -> contextlib.AbstractContextManager[None]:
        """Be `at_work` as soon as whoever is there has ended; what one process does in its turn it
        may do `at_work` as well."""
        return in_turn(self._lease, f"{self.path}: waiting for", say)

    def is_untouched(self) -> bool:
        """Whether nothing lies in the folder, or there is none."""
        return not self.path.is_dir() or not set(self.path.iterdir()) - {self._lease}
