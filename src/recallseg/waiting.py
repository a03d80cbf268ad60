"""How a process shares the cores of its machine with others; set before torch is loaded.

OpenMP's idle threads spin by default, so that two runs on one machine slow each other down tenfold.
"""

import os

CORES = "RECALLSEG_CORES"
"""Names the cores that one process may use; by default those that the system gives it."""


def wait_passively() -> None:
    """Let idle threads sleep, unless the environment says otherwise."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def usable_cores() -> int:
    """How many cores this process may keep busy."""
    if cores := os.environ.get(CORES):
        return int(cores)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def kept_to(cores: int) -> dict[str, str]:
    """The environment of a process that is to use so many cores."""
    return {CORES: str(cores), "OMP_NUM_THREADS": str(cores), "OMP_WAIT_POLICY": "PASSIVE"}
