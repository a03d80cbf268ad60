"""How a process gets on with others: the cores that it leaves them, and how they ask it to stop.

OpenMP's idle threads spin by default, so that two runs on one machine slow each other down tenfold:
how threads wait is set before torch is loaded.
"""

import os
import signal
import threading

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


def stop_on_request() -> None:
    """Take SIGTERM for Ctrl-C, so that what this process started ends with it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
