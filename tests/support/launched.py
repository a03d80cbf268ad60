"""Several processes of one run, started as `torchrun` starts them, but forked from this one."""

import hashlib
import json
import socket
import sys
import threading
import warnings
from pathlib import Path

from children import Child

from recallseg.engine.runner import run
from recallseg.engine.training.loop import train


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def launch(work, nodes, devices, **environment):
    """Do `work` in processes that see what `torchrun` would tell them; how each of them ended."""
    port, world, children = free_port(), nodes * devices, []

    def quietly():
        with warnings.catch_warnings(action="ignore"):  # DDP's, of the layout of gradients
            work()

    for rank in range(world):
        about = {
            "TORCHELASTIC_RUN_ID": "test",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "WORLD_SIZE": world,
            "LOCAL_WORLD_SIZE": devices,
            "RANK": rank,
            "LOCAL_RANK": rank % devices,
            "GROUP_RANK": rank // devices,
        }
        told = {name: str(value) for name, value in (about | environment).items()}
        children.append(Child([], told, quietly))
    return [child.outcome() for child in children]


class Noted:
    """A stream that notes a hash of every sample that is drawn from it."""

    def __init__(self, stream, name, notes):
        self.stream, self.name, self.notes = stream, name, notes

    def batch(self, number, rank=0, world=1):
        batch = self.stream.batch(number, rank, world)
        seen = batch.features if batch.photos is None else batch.photos
        self.notes[f"{self.name}/{number}/{rank}"] = [
            hashlib.sha256(part.numpy().tobytes() + labels.numpy().tobytes()).hexdigest()
            for part, labels in zip(seen, batch.labels, strict=True)
        ]
        return batch


def run_noting(config, folder, notes_path):
    """Run, and write down every sample that this process drew, in order."""
    notes = {}

    def trainer(session, training, model, stream, loss, memory=None):
        noted = Noted(stream, training.name, notes)
        train(session, training, model, noted, loss, memory)

    run(config, folder, trainer=trainer)
    notes_path.mkdir(parents=True, exist_ok=True)
    name = f"{threading.get_native_id()}.json"
    (notes_path / name).write_text(json.dumps(notes))


def sequences(notes_path):
    """By training and number, the samples of each batch in the order of one process."""
    shares = {}
    for path in notes_path.iterdir():
        for key, hashes in json.loads(path.read_text()).items():
            name, number, rank = key.rsplit("/", 2)
            shares.setdefault((name, int(number)), {})[int(rank)] = hashes
    whole = {}
    for place, by_rank in shares.items():
        world, size = len(by_rank), sum(map(len, by_rank.values()))
        whole[place] = [by_rank[at % world][at // world] for at in range(size)]
    return whole


if __name__ == "__main__":
    from recallseg.config import load_config

    run_noting(load_config(Path(sys.argv[1]), sys.argv[4:]), *map(Path, sys.argv[2:4]))
