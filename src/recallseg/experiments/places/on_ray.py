"""Runs as plain tasks of a Ray cluster, or of one that is started on this machine for them."""

import os
import sys
from pathlib import Path
from typing import Any

from recallseg.errors import RecallsegError
from recallseg.experiments.places.place import RETRIES, Ended, Job, Resources
from recallseg.experiments.worker import work
from recallseg.waiting import kept_to, usable_cores

PASSED_ON = ("RECALLSEG_DATA", "RECALLSEG_CACHE", "RECALLSEG_BANK", "PYTHONPATH")
"""Variables that a run sees as this process does; keys of photo sites are not among them."""
LOOPBACK = "127.0.0.2" if sys.platform.startswith("linux") else None
"""Where a cluster listens that is started here. Ray takes 127.0.0.1 for a wish to be reached from
elsewhere; on systems but Linux it stays on loopback by itself."""
OBJECTS = 80 * 2**20
"""Bytes for the objects of a cluster that is started here, the least that Ray takes: it has none
to keep."""


class OnRay:
    """One task for each run, begun again elsewhere when its machine dies."""

    def __init__(self, address: str | None, resources: Resources) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            raise RecallsegError(
                "--on ray needs a package: pip install 'recallseg[ray]'."
            ) from error
        self.ray: Any = ray
        self.resources, self._running = resources, dict[Any, Job]()
        self._opened = not ray.is_initialized()
        if self._opened:
            self._connect(address)
        variables = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.task = ray.remote(work)
        self.options = {
            "num_cpus": resources.cpus,
            "num_gpus": resources.gpus,
            "max_retries": RETRIES,
            "retry_exceptions": False,
            "runtime_env": {"env_vars": variables | kept_to(resources.cpus)},
        }

    def _connect(self, address: str | None) -> None:
        try:
            if address:
                self.ray.init(address=address, log_to_driver=False)
            else:
                self.ray.init(
                    address="local",
                    num_cpus=usable_cores(),
                    object_store_memory=OBJECTS,
                    include_dashboard=False,
                    log_to_driver=False,
                    _node_ip_address=LOOPBACK,
                )
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise RecallsegError(
                f"There is no Ray cluster to be reached at {address}: {reason}"
            ) from error

    def has_room(self) -> bool:
        """Ray itself lets tasks wait until there is room for them."""
        return True

    def start(self, job: Job) -> None:
        """Hand a run to Ray."""
        if job.config.processes > 1:
            raise RecallsegError(
                f"A run on Ray is one process, but {job.title} asks for {job.config.processes}; "
                "leave devices and nodes at 1, or use --on slurm."
            )
        job.prepare()
        task = self.task.options(name=job.title, **self.options)
        self._running[task.remote(str(job.folder), str(Path.cwd()))] = job

    def ended(self) -> list[Ended]:
        """The tasks that ended."""
        if not self._running:
            return []
        done, _ = self.ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
        return [Ended(self._running.pop(each), self._problem(each)) for each in done]

    def _problem(self, reference: object) -> str | None:
        try:
            self.ray.get(reference)
        except RecallsegError as error:
            return str(getattr(error, "cause", error))
        except self.ray.exceptions.RayError as error:
            return str(error).strip().rpartition("\n")[2]
        return None

    def close(self) -> None:
        """Interrupt the tasks that still run, and let go of the cluster."""
        for reference in self._running:
            self.ray.cancel(reference, force=False)
        if self._running:
            self.ray.wait(list(self._running), num_returns=len(self._running), timeout=60)
        self._running.clear()
        if self._opened:
            self.ray.shutdown()
