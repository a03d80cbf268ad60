"""One run of a table, in a process of its own somewhere: `python -m recallseg.experiments.worker`.

A run folder says all that the run needs. How far it is lies beside the run folders, for whoever
watches the table.
"""

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import TypedDict

from recallseg.config import RunConfig
from recallseg.errors import RecallsegError
from recallseg.files import write_json
from recallseg.leases import is_first_process
from recallseg.progress import ProgressReport, heard_by, messages
from recallseg.runs.folder import RunFolder
from recallseg.waiting import stop_on_request

SECONDS_APART = 2.0
"""How often a run says how far it is."""


class Notice(TypedDict):
    """How far a run is, and where it runs."""

    host: str
    pid: int
    phase: str
    share: float
    """Of its iterations, those that are done."""
    seconds: float
    """Since it was started there."""
    left: float | None
    """Seconds, if it went on as so far."""


def notice_file(folder: Path) -> Path:
    """Where a run says how far it is: beside its folder, which holds only what lasts."""
    return folder.parent / ".progress" / f"{folder.name}.json"


def read_notice(folder: Path) -> Notice | None:
    """What a run said last, if it said something."""
    try:
        notice: Notice = json.loads(notice_file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return notice


class Noticing:
    """Hears of a run's progress and writes down now and then how far it is."""

    def __init__(self, folder: Path, phases: dict[str, int]) -> None:
        self.folder, self.phases = folder, phases
        self.started, self.written = time.monotonic(), -SECONDS_APART
        self.first: int | None = None
        self.iterations = 0

    def __call__(self, report: ProgressReport) -> None:
        """Hear of progress."""
        if report.phase in self.phases:
            before = list(self.phases)[: list(self.phases).index(report.phase)]
            self.iterations = sum(self.phases[name] for name in before) + report.done
            if self.first is None:
                self.first = self.iterations - 1
        if time.monotonic() - self.written > SECONDS_APART:
            self.written = time.monotonic()
            write_json(notice_file(self.folder), self.notice(report.phase))

    def notice(self, phase: str) -> Notice:
        """How far the run is, at a phase."""
        total, seconds = sum(self.phases.values()), time.monotonic() - self.started
        gained = self.iterations - (self.first or 0)
        left = seconds / gained * (total - self.iterations) if gained else None
        return {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "phase": phase,
            "share": round(self.iterations / max(1, total), 4),
            "seconds": round(seconds, 1),
            "left": None if left is None else round(left, 1),
        }


def trainings(config: RunConfig) -> dict[str, int]:
    """The trainings of a run in their order, each with its iterations."""
    from recallseg.engine.session.data import scenario_of
    from recallseg.engine.training.optimisers import iterations_for
    from recallseg.methods import build_method

    scenario = build_method(config.method).steps(scenario_of(config))
    found = {}
    for step in scenario:
        size = (len(step.new_classes), len(step.images), scenario.setup)
        optim = config.increment if step.index else config.optim
        found[f"step {step.index}"] = iterations_for(optim, *size)
        if config.replay.settings is not None:
            found[f"helper {step.index}"] = iterations_for(config.helper.optim, *size)
    return found


def work(folder: str, place: str | None = None) -> None:
    """Do a run that lies ready in a folder, after whoever is at work there; `place` is where
    relative paths of its settings begin."""
    if place and Path(place).is_dir():
        os.chdir(place)
    from recallseg.engine.runner import run

    mine, tells = RunFolder.existing(Path(folder)), is_first_process()
    with mine.in_turn(lambda sentence: messages().print(sentence, highlight=False)):
        config = mine.config
        with heard_by(Noticing(mine.path, trainings(config)) if tells else None):
            run(config, mine.path)
    if tells:
        notice_file(mine.path).unlink(missing_ok=True)


def main() -> int:
    """Do the run that the command line names; an error that a person can mend is a sentence."""
    stop_on_request()
    try:
        work(sys.argv[1])
    except RecallsegError as error:
        messages().print(f"error: {error}", highlight=False, markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
