"""Two trainings at once on the cores of one machine, beside the same two in turn."""

import os
import subprocess
import sys
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

    def finish(self) -> None:
        """Wait until it has."""
        self._pipe(self.process.stdout).readline()

    def close(self) -> None:
        """End it."""
        self._pipe(self.process.stdin).close()
        self.process.wait()
        self._pipe(self.process.stdout).close()


def bench_side_by_side(config: RunConfig, iterations: int) -> dict[str, float]:
    """How long two trainings at once take, over the same two in turn.

    As `table --jobs 2` has them, with half the cores each; as two `run` commands; and as they were
    before idle threads slept.
    """
    cores = usable_cores()
    plain = {name: value for name, value in os.environ.items() if name != WAIT}
    kinds = {
        "half": plain | kept_to(max(1, cores // 2)),
        "passive": plain | kept_to(cores),
        "spinning": plain | kept_to(cores) | {WAIT: "ACTIVE"},
    }
    pairs = {
        kind: [Trainee(config, iterations, environment) for _ in range(2)]
        for kind, environment in kinds.items()
    }

    def at_once(kind: str) -> None:
        for each in pairs[kind]:
            each.begin()
        for each in pairs[kind]:
            each.finish()

    def one_by_one(kind: str) -> None:
        for each in pairs[kind]:
            each.begin()
            each.finish()

    works = {f"{kind} at once": lambda kind=kind: at_once(kind) for kind in kinds}
    works |= {f"{kind} in turn": lambda kind=kind: one_by_one(kind) for kind in kinds}
    try:
        times = in_turns(works, rounds=5)
    finally:
        for pair in pairs.values():
            for each in pair:
                each.close()
    alone = times["passive in turn"]
    return {
        "cores: two runs at once, half the cores each, over in turn": times["half at once"] / alone,
        "cores: two runs at once, all cores each, over in turn": times["passive at once"] / alone,
        "cores: the same with spinning threads": times["spinning at once"]
        / times["spinning in turn"],
        "cores: one run, passive over spinning": alone / times["spinning in turn"],
    }


def main() -> None:
    """Train on made-up batches whenever a line comes in, and say so."""
    import torch

    from recallseg.methods import Batch, plain_loss
    from recallseg.model.building import build_model

    config = RunConfig.model_validate_json(sys.stdin.readline())
    model = build_model(config.model, 16, "none").train()
    photos = torch.randint(0, 256, (config.optim.batch, 3, *[config.views.crop] * 2))
    size = model(photos.byte()).logits.shape[-2:]
    batch = Batch(torch.randint(0, 16, (config.optim.batch, *size)), photos=photos.byte())
    for _ in sys.stdin:
        for _ in range(int(sys.argv[1])):
            plain_loss(model, batch).backward()  # type: ignore[no-untyped-call]
            model.zero_grad(set_to_none=True)
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
