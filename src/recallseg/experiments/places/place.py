"""What a table asks of the place where its runs are done."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from recallseg.config import RunConfig
from recallseg.runs.folder import RunFolder

RETRIES = 3
"""How often a run is begun again when its process or its machine dies."""


@dataclass(frozen=True, eq=False)
class Job:
    """One run of a table."""

    title: str
    folder: Path
    config: RunConfig
    after: Path | None = None
    """The folder of a run that trains the same step 0, for which this one waits."""

    def is_ready(self, ended: set[Path]) -> bool:
        """Whether the step 0 that it waits for is there, or will not come."""
        if self.after is None or self.after in ended:
            return True
        return RunFolder(self.after).step(0).decoder.is_file()

    def prepare(self) -> None:
        """Make the run folder, so that another process needs to know nothing else."""
        folder = RunFolder(self.folder)
        if not RunFolder.is_one(self.folder) or folder.config != self.config:
            with folder.at_work():
                folder.claim(self.config)


class Ended(NamedTuple):
    """A run that came to its end, with what was wrong if it failed."""

    job: Job
    error: str | None = None


class Place(Protocol):
    """Somewhere to do runs."""

    def has_room(self) -> bool:
        """Whether another run can be started now."""
        ...

    def start(self, job: Job) -> None:
        """Begin a run."""
        ...

    def ended(self) -> list[Ended]:
        """The runs that ended since this was asked last."""
        ...

    def close(self) -> None:
        """Stop what is still running, so that the same command can go on with it."""
        ...


@dataclass(frozen=True)
class Resources:
    """What one run gets."""

    cpus: int = 1
    gpus: int = 0
