"""How much sooner two processes are done with a step than one that has the same cores."""

import os
import socket
import subprocess
import sys

from recallseg.config import RunConfig
from recallseg.experiments.timing import ROUNDS
from recallseg.waiting import kept_to, usable_cores


def bench_processes(config: RunConfig, iterations: int) -> dict[str, float]:
    """The time of a step in one process on all cores, over that of two on half of them each."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for count in (1, 2, 1, 2):
        times[count].append(_seconds(config, count, iterations))
    return {"processes: a step in one over a step in two": sum(times[1]) / sum(times[2])}


def _seconds(config: RunConfig, count: int, iterations: int) -> float:
    """How long some steps take so many processes, which are started as `torchrun` does it."""
    plan = config.model_copy(update={"devices": count, "nodes": None, "accelerator": "cpu"})
    about = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": str(count)}
    about |= {"TORCHELASTIC_RUN_ID": "bench"} | kept_to(max(1, usable_cores() // count))
    words = [sys.executable, "-m", "recallseg.experiments.scaling", str(iterations)]
    started = []
    for rank in range(count):
        own = os.environ | about | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        started.append(
            subprocess.Popen(
                [*words, plan.model_dump_json()], stdout=subprocess.PIPE, text=True, env=own
            )
        )
    return max(float(each.communicate()[0].splitlines()[-1]) for each in started)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    """Train on made-up batches, this process its share of them, and say how long it took."""
    import statistics

    import torch

    from recallseg.engine.session import Session
    from recallseg.experiments.timing import seconds_of
    from recallseg.methods import Batch, plain_loss
    from recallseg.model.building import build_model

    config = RunConfig.model_validate_json(sys.argv[2])
    session = Session.open(config)
    model = build_model(config.model, 16, "none").train()
    wrapped, optimizer = session.fabric.setup(model, torch.optim.SGD(model.parameters(), lr=1e-6))
    share = config.optim.batch // config.devices
    photos = torch.randint(0, 256, (share, 3, *[config.views.crop] * 2)).byte()
    size = model(photos).logits.shape[-2:]
    batch = Batch(torch.randint(0, 16, (share, *size)), photos=photos)

    def steps() -> None:
        for _ in range(int(sys.argv[1])):
            session.fabric.backward(plain_loss(wrapped, batch))
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    steps()
    seconds = statistics.median(seconds_of(steps) for _ in range(ROUNDS))
    sys.stdout.write(f"{seconds}\n")


if __name__ == "__main__":
    main()
