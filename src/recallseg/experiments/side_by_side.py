"""Two trainings at once on the cores of one machine, beside the same two in turn."""

import os
import subprocess
import sys
import time
from functools import partial
from typing import IO

from recallseg.config import RunConfig
from recallseg.experiments.timing import in_turns
from recallseg.waiting import kept_to, usable_cores

WAIT = "OMP_WAIT_POLICY"


class Trainee:
    """A process that trains a few iterations whenever it is told to."""

    def __init__(self, config: RunConfig, iterations: int, environment: dict[str, str]) -> None:
        words = [sys.executable, "-m", "recallseg.experiments.side_by_side", str(iterations)]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._pipe(self.process.stdin).write(f"{config.model_dump_json()}\n")
        self.begin()
        self.finish()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe

    def begin(self) -> None:
        """Let it train."""
        pipe = self._pipe(self.process.stdin)
        pipe.write("train\n")
        pipe.flush()

    def finish(self) -> float:
        """Wait until it has; the seconds of CPU that it took."""
        return float(self._pipe(self.process.stdout).readline())

    def close(self) -> None:
        """End it."""
        self._pipe(self.process.stdin).close()
        self.process.wait()
        self._pipe(self.process.stdout).close()


def bench_side_by_side(config: RunConfig, iterations: int) -> dict[str, float]:
    """How long two trainings at once take, over the same two in turn.

    As `table --jobs 2` has them, with half the cores each; as two `run` commands; and as they were
    before idle threads slept. CPU time tells of the same where a machine does other things too.
    """
    cores = usable_cores()
    plain = {name: value for name, value in os.environ.items() if name != WAIT}
    kinds = {
        "half": plain | kept_to(max(1, cores // 2)),
        "passive": plain | kept_to(cores),
        "spinning": plain | kept_to(cores) | {WAIT: "ACTIVE"},
    }
    cpu: dict[str, list[float]] = {}

    def at_once(pair: list[Trainee], name: str) -> None:
        for each in pair:
            each.begin()
        cpu.setdefault(name, []).append(sum(each.finish() for each in pair))

    def one_by_one(pair: list[Trainee], name: str) -> None:
        for each in pair:
            each.begin()
            cpu.setdefault(name, []).append(each.finish())

    pairs = {kind: [Trainee(config, iterations, kinds[kind]) for _ in range(2)] for kind in kinds}
    works = {
        f"{kind} {word}": partial(way, pair, f"{kind} {word}")
        for kind, pair in pairs.items()
        for word, way in (("at once", at_once), ("in turn", one_by_one))
    }
    try:
        times = in_turns(works, rounds=5)
    finally:
        for each in (trainee for pair in pairs.values() for trainee in pair):
            each.close()
    spent = {name: sum(seconds) for name, seconds in cpu.items()}
    return {
        f"cores: {words}{unit}": taken[first] / taken[second]
        for unit, taken in (("", times), (" (CPU)", spent))
        for words, first, second in (
            (
                "two runs at once, half of them each, over in turn",
                "half at once",
                "passive in turn",
            ),
            (
                "two runs at once, all of them each, over in turn",
                "passive at once",
                "passive in turn",
            ),
            ("the same with spinning threads", "spinning at once", "spinning in turn"),
            ("one run, sleeping over spinning", "passive in turn", "spinning in turn"),
        )
    }


def main() -> None:
    """Train on made-up batches whenever a line comes in, and say how much CPU time it took."""
    import torch

    from recallseg.methods import Batch, plain_loss
    from recallseg.model.building import build_model

    config = RunConfig.model_validate_json(sys.stdin.readline())
    model = build_model(config.model, 16, "none").train()
    photos = torch.randint(0, 256, (config.optim.batch, 3, *[config.views.crop] * 2))
    size = model(photos.byte()).logits.shape[-2:]
    batch = Batch(torch.randint(0, 16, (config.optim.batch, *size)), photos=photos.byte())
    for _ in sys.stdin:
        before = time.process_time()
        for _ in range(int(sys.argv[1])):
            plain_loss(model, batch).backward()  # type: ignore[no-untyped-call]
            model.zero_grad(set_to_none=True)
        sys.stdout.write(f"{time.process_time() - before}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
