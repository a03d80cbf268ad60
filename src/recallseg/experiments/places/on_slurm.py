"""Runs as jobs of SLURM, which submitit writes, watches, and puts back in line when preempted."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallseg.errors import RecallsegError
from recallseg.experiments.places.place import Ended, Job, Resources
from recallseg.experiments.worker import work
from recallseg.waiting import kept_to

TIMEOUTS = 100
"""How often a run that reached its time limit goes on in a new job."""


MINUTES = 480
"""The time limit of a job, unless the user names one; submitit's own is 5."""


class Task:
    """A run as submitit wants it: called in the job, asked what to do next when it is cut short."""

    def __init__(self, folder: Path, cores: int) -> None:
        self.folder, self.place, self.cores = str(folder.absolute()), str(Path.cwd()), cores

    def __call__(self) -> None:
        """Do the run."""
        os.environ.update(kept_to(self.cores))
        work(self.folder, self.place)

    def checkpoint(self) -> Any:  # noqa: ANN401
        """The same again: a run goes on where it was."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


class OnSlurm:
    """One job for each run."""

    def __init__(
        self,
        folder: Path,
        resources: Resources,
        parameters: Mapping[str, str],
        cluster: str = "slurm",
    ) -> None:
        try:
            import submitit
        except ImportError as error:
            raise RecallsegError(
                "--on slurm needs a package: pip install 'recallseg[slurm]'."
            ) from error
        limit = {"slurm_max_num_timeout": TIMEOUTS} if cluster == "slurm" else {}
        try:
            self.executor = submitit.AutoExecutor(folder, cluster=cluster, **limit)
        except RuntimeError as error:
            raise RecallsegError(f"SLURM is not on this machine: {error}") from error
        self.resources, self.parameters = resources, parameters
        self._running: dict[Job, Any] = {}

    def has_room(self) -> bool:
        """SLURM itself lets jobs wait until there is room for them."""
        return True

    def start(self, job: Job) -> None:
        """Hand a run to SLURM, with a task for each of its processes."""
        job.prepare()
        devices = job.config.devices
        self.executor.update_parameters(
            name=job.folder.name,
            nodes=job.config.nodes or 1,
            tasks_per_node=devices,
            cpus_per_task=self.resources.cpus,
            gpus_per_node=self.resources.gpus * devices,
            **self._own(),
        )
        self._running[job] = self.executor.submit(Task(job.folder, self.resources.cpus))

    def _own(self) -> dict[str, Any]:
        """What the user says of jobs: submitit's own words, and any other of sbatch's."""
        if self.executor.cluster != "slurm":
            return {}
        known: dict[str, Any] = {"slurm_time": MINUTES}
        others: dict[str, Any] = {"requeue": True}
        for name, value in self.parameters.items():
            if name in ("partition", "account", "qos", "constraint", "time", "mem"):
                known[f"slurm_{name}"] = int(value) if value.isdecimal() else value
            else:
                others[name] = value
        return {**known, "slurm_additional_parameters": others}

    def ended(self) -> list[Ended]:
        """The jobs that ended."""
        done = [(job, task) for job, task in self._running.items() if task.done()]
        for job, _ in done:
            del self._running[job]
        return [Ended(job, _problem(task)) for job, task in done]

    def close(self) -> None:
        """Cancel what waits or runs."""
        for task in self._running.values():
            task.cancel()
        self._running.clear()


def _problem(task: Any) -> str | None:  # noqa: ANN401
    """What went wrong in a job, in a sentence; all of it is in the job's own files."""
    error = task.exception()
    if error is None:
        return None
    lines = [line for line in str(error).splitlines() if "RecallsegError: " in line]
    return lines[-1].partition("RecallsegError: ")[2] if lines else f"see {task.paths.stderr}"
