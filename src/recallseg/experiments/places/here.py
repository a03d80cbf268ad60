"""Runs on this machine: one after the other in this process, or several, a process for each."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.experiments.places.place import RETRIES, Ended, Job
from recallseg.waiting import kept_to, usable_cores

WORKER = (sys.executable, "-m", "recallseg.experiments.worker")
PATIENCE = 60.0
"""Seconds that a stopped run has to come to its end."""


class ThisProcess:
    """One run at a time, with its progress on the terminal."""

    def __init__(self) -> None:
        self._ended: list[Ended] = []

    def has_room(self) -> bool:
        """Whether what ended was heard of, so that the table can be shown."""
        return not self._ended

    def start(self, job: Job) -> None:
        """Do the run."""
        try:
            run(job.config, job.folder)
            self._ended.append(Ended(job))
        except RecallsegError as error:
            self._ended.append(Ended(job, str(error)))

    def ended(self) -> list[Ended]:
        """The run that was done last."""
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Nothing is left running."""


class SeveralProcesses:
    """A process for each of several runs at a time, which share the cores of this machine."""

    def __init__(self, at_once: int, logs: Path, command: Sequence[str] = WORKER) -> None:
        self.at_once, self.logs, self.command = at_once, logs, command
        self.cores = max(1, usable_cores() // at_once)
        self._running: dict[Job, subprocess.Popen[bytes]] = {}
        self._deaths: dict[Path, int] = {}

    def has_room(self) -> bool:
        """Whether fewer runs are going on than may at once."""
        return len(self._running) < self.at_once

    def start(self, job: Job) -> None:
        """Begin a run in a process of its own; what it says goes to a file."""
        job.prepare()
        self.logs.mkdir(parents=True, exist_ok=True)
        with self._log(job).open("ab") as log:
            self._running[job] = subprocess.Popen(
                [*self.command, str(job.folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | kept_to(self.cores),
                start_new_session=True,
            )

    def _log(self, job: Job) -> Path:
        return self.logs / f"{job.folder.name}.log"

    def ended(self) -> list[Ended]:
        """The runs that ended; one whose process was killed is begun again a few times."""
        ended = []
        for job, process in list(self._running.items()):
            if (code := process.poll()) is None:
                continue
            del self._running[job]
            self._deaths[job.folder] = self._deaths.get(job.folder, 0) + (code < 0)
            if code < 0 and self._deaths[job.folder] <= RETRIES:
                self.start(job)
            else:
                ended.append(Ended(job, self._problem(job, code) if code else None))
        return ended

    def _problem(self, job: Job, code: int) -> str:
        if code < 0:
            return f"its process was killed by {signal.Signals(-code).name}"
        lines = self._log(job).read_text(encoding="utf-8", errors="replace").splitlines()
        told = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        return told[-1] if told and code == 2 else f"see {self._log(job)}"

    def close(self) -> None:
        """Ask what still runs to stop, and wait until it has let go of its folder. Processes of
        a background job may be deaf to Ctrl-C's signal, not to this one."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
