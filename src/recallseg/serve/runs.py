"""The runs that a server shows, opened again when a step was learned or taken back."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from PIL import Image

from recallseg.predict.timeline import Timeline
from recallseg.runs.folder import RunFolder
from recallseg.serve.meters import Meters

INTERVAL, PAUSE = 1.0, 10.0
"""Seconds between two looks at the folders, and before another try at one that did not open."""


class LiveRuns(Mapping[str, Timeline]):
    """Opened runs by key; a run that changes on disk is replaced when its successor is ready.

    Whoever has taken a run goes on with it, so no request sees half of a change.
    """

    def __init__(self, folders: Mapping[str, Path], open_run: Callable[[Path], Timeline]) -> None:
        self.folders, self._open = dict(folders), open_run
        self._opened = {key: open_run(path) for key, path in folders.items()}
        self._shown = {key: state_of(path) for key, path in folders.items()}
        self._last_seen = dict(self._shown)
        self._not_before = dict.fromkeys(folders, 0.0)

    def __getitem__(self, key: str) -> Timeline:
        return self._opened[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._opened)

    def __len__(self) -> int:
        return len(self._opened)

    def refresh(self, note: Callable[[str, str], None] = lambda key, outcome: None) -> None:
        """Open the runs again whose files are others than those shown, and are no longer changing.

        A folder that cannot be opened just now, in the middle of a change, leaves the run as it is,
        and is tried again after a pause.
        """
        for key, path in self.folders.items():
            state = state_of(path)
            if state in (None, self._shown[key]) or time.monotonic() < self._not_before[key]:
                continue
            if state != self._last_seen[key]:
                self._last_seen[key] = state
                continue
            try:
                successor = self._open(path)
                warm_up(successor)
            except Exception:
                self._not_before[key] = time.monotonic() + PAUSE
                note(key, "failed")
                continue
            self._opened[key], self._shown[key] = successor, state
            note(key, "opened")

    async def keep_fresh(self, meters: Meters) -> None:
        """Refresh for as long as the server runs, on another thread."""

        def note(key: str, outcome: str) -> None:
            meters.reloads.labels(key, outcome).inc()
            meters.step.labels(key).set(max(self[key].class_names))

        while True:
            await asyncio.sleep(INTERVAL)
            await asyncio.to_thread(self.refresh, note)


def state_of(path: Path) -> tuple[object, ...] | None:
    """What changes with the content of a run folder; None while that is unclear."""
    folder = RunFolder(path)
    try:
        files = [folder.encoder]
        for index in folder.finished_steps():
            files += [folder.step(index).decoder, folder.step(index).encoder]
        marks = [_mark(file) for file in files if file.is_file()]
        return (*marks, *folder.learned()["channels"])
    except Exception:  # a folder in the middle of a change may hold anything
        return None


def _mark(path: Path) -> tuple[str, int, int, int]:
    status = path.stat()
    return path.name, status.st_mtime_ns, status.st_size, status.st_ino


def warm_up(run: Timeline) -> None:
    """Look at a small picture once, which makes the first real one as quick as the others."""
    run.predict(Image.new("RGB", (64, 64)))
