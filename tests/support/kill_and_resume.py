"""Kill a run with SIGKILL at awkward moments, start it again each time, and compare its numbers.

    python tests/support/kill_and_resume.py CONFIG.yaml [key=value ...]

One run goes through in peace. Another is killed while it encodes photos, trains, evaluates and
writes, and once at a random moment; each time the same command is started again. The metrics in
both result.json files must be equal byte for byte. Each run has a cache of its own.
"""

import contextlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import preloaded  # noqa: F401
from children import Child

Moment = Callable[[Path, Path], bool]

PATIENCE = 600.0
"""Seconds after which a run that neither ended nor came to its moment has failed."""


def _encoding(run: Path, cache: Path) -> bool:
    return any(1 in path.read_bytes() for path in cache.glob("bank/*/done.u8"))


def _training(run: Path, cache: Path) -> bool:
    return any(run.glob("*/state/training.pt"))


def _evaluating(run: Path, cache: Path) -> bool:
    last = max(run.glob("*/step-*/decoder.safetensors"), default=None)
    return last is not None and not (last.parent / "metrics.json").exists()


def _writing(run: Path, cache: Path) -> bool:
    return any(run.glob("*/**/.*.tmp/*"))


def _in_a_while() -> Moment:
    deadline = time.monotonic() + random.uniform(0.1, 1)
    return lambda run, cache: time.monotonic() > deadline


def start(words: list[str], run: Path, cache: Path) -> Child:
    """The command that a person would type, with its own folder and cache, in a fork."""
    return Child(["run", *words, "--out", run], {"RECALLSEG_CACHE": str(cache)})


def kill_at(words: list[str], run: Path, cache: Path, moment: Moment) -> bool:
    """Start the command and kill it when the moment has come; false if it ended before."""
    child, killed = start(words, run, cache), False
    end = time.monotonic() + PATIENCE
    while not killed and not child.ended() and time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError):  # a temporary folder that is gone again
            killed = moment(run, cache) and child.kill()
        time.sleep(0.002)
    ended = child.outcome(max(0.0, end - time.monotonic()))
    if not killed and ended.code != 0:
        raise SystemExit(f"the run failed with exit code {ended.code}: {ended.err}")
    return killed


def metrics_of(run: Path) -> str:
    """What result.json says, without how long it took."""
    (path,) = run.glob("*/result.json")
    result = json.loads(path.read_text())
    return json.dumps({k: v for k, v in result.items() if k not in ("seconds", "peak_memory_mb")})


MOMENTS: dict[str, Callable[[], Moment]] = {
    "training": lambda: _training,
    "a random moment": _in_a_while,
    "evaluating": lambda: _evaluating,
    "encoding": lambda: _encoding,
    "writing": lambda: _writing,
}
"""When a run is killed; each is made anew for the run that it is about."""


def compare(words: list[str], scratch: Path, names: Iterable[str] = MOMENTS) -> list[str]:
    """Run once in peace and once under fire; the moments at which it was really killed."""
    peace, fire = scratch / "peace", scratch / "fire"
    if start(words, peace / "runs", peace / "cache").outcome().code:
        raise SystemExit("the uninterrupted run failed")
    killed = []
    for name in names:
        if kill_at(words, fire / "runs", fire / "cache", MOMENTS[name]()):
            killed.append(name)
    if start(words, fire / "runs", fire / "cache").outcome().code:
        raise SystemExit("the resumed run failed")
    if metrics_of(peace / "runs") != metrics_of(fire / "runs"):
        raise SystemExit(f"the numbers differ; see {scratch}")
    return killed


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp(prefix="recallseg-kill-"))
    moments = compare(sys.argv[1:], folder)
    print(f"killed while: {', '.join(moments)}; the metrics are identical")  # noqa: T201
    shutil.rmtree(folder)
