"""From the words of a command to the place that they name."""

from collections.abc import Sequence
from pathlib import Path

from recallseg.errors import RecallsegError
from recallseg.experiments.places.here import SeveralProcesses
from recallseg.experiments.places.place import Place, Resources


def open_place(
    on: str, out: Path, jobs: int, cpus: int, gpus: int, slurm: Sequence[str]
) -> Place | None:
    """Where runs are to be done; None for one after the other in this process."""
    name, _, address = on.partition(":")
    if jobs > 1 and name != "local":
        raise RecallsegError("--jobs is for --on local; Ray and SLURM know themselves what fits.")
    if wrong := [word for word in slurm if "=" not in word]:
        raise RecallsegError(f"--slurm takes name=value, not '{wrong[0]}'.")
    if name == "local" and not address:
        return SeveralProcesses(jobs, out / ".logs") if jobs > 1 else None
    if name == "ray":
        from recallseg.experiments.places.on_ray import OnRay

        return OnRay(address or None, Resources(cpus, gpus))
    if name == "slurm" and not address:
        from recallseg.experiments.places.on_slurm import OnSlurm

        words = dict(word.split("=", 1) for word in slurm)
        return OnSlurm(out / ".slurm", Resources(cpus, gpus), words)
    raise RecallsegError(f"--on takes local, ray, ray:ADDRESS or slurm, not '{on}'.")
