"""A table of twelve short runs on the drawn world, on a Ray cluster of which a node is killed.

    python tools/cluster.py [-o docs/results/table-on-ray.json]

The same table is made once in this process and once on three nodes that Ray runs on this machine.
In the middle one of them is killed, with the run on it. Every run must end with the same numbers,
and no step 0 may be trained twice.
"""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ |= {
    "OMP_NUM_THREADS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_agent_register_timeout_ms": "600000",
}

import ray
from ray.cluster_utils import Cluster

from recallseg.data.toy.writing import write_scenes
from recallseg.engine.session.shared import first_step_key
from recallseg.experiments.places.on_ray import LOOPBACK, OBJECTS, OnRay
from recallseg.experiments.places.place import Resources
from recallseg.experiments.table import make_table
from recallseg.experiments.table_spec import plan_table
from recallseg.experiments.worker import read_notice
from recallseg.files import write_json
from recallseg.runs.folder import RunFolder

TABLE = """
configs: {configs}
rows: {{FT: ft, LwF: lwf, MiB: mib, Inpainting: inpaint}}
scenarios: [15-5]
seeds: [0, 1, 2]
overrides:
  - data.root={data}
  - model.encoder=test_efficientnet
  - model.weights=none
  - model.neck=null
  - views.crop=65
  - views.label_stride=4
  - optim.iterations_per_class=1
  - increment.iterations_per_class=4
  - bank.views=1
  - checkpoint_seconds=0
"""
NODE = {"num_cpus": 1, "object_store_memory": OBJECTS, "node_ip_address": LOOPBACK}
PATIENT = {"worker_register_timeout_seconds": 600, "worker_niceness": 0}
"""Workers may take long to begin where a machine does other things too; Ray's own niceness of 15
would keep them from it."""


@contextlib.contextmanager
def nodes(count: int) -> Iterator[Cluster]:
    """A Ray cluster of so many nodes on this machine, with a core each."""
    head = NODE | {"include_dashboard": False, "_system_config": PATIENT}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(count - 1):
            cluster.add_node(**NODE)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


class Killer(threading.Thread):
    """Kills a node as soon as a run on it is under way, after some others have ended."""

    def __init__(self, cluster: Cluster, folders: list[Path], after: int) -> None:
        super().__init__(daemon=True)
        self.cluster, self.folders, self.after = cluster, folders, after
        self.killed: dict[str, Any] | None = None

    def run(self) -> None:
        """Wait for the moment."""
        while self.killed is None:
            time.sleep(0.05)
            if sum(RunFolder(each).result_file.is_file() for each in self.folders) < self.after:
                continue
            for folder in self.folders:
                notice = read_notice(folder)
                if notice and (node := self._node_of(notice["pid"])):
                    self.cluster.remove_node(node, allow_graceful=False)
                    self.killed = {"run": folder.name, "at": notice["phase"]}
                    return

    def _node_of(self, pid: int) -> Any:  # noqa: ANN401
        """The node, other than the first, whose raylet started a process."""
        with contextlib.suppress(OSError):
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            for node in self.cluster.worker_nodes:
                [raylet] = node.all_processes["raylet"]
                if raylet.process.pid == parent:
                    return node
        return None


def timeless(folder: Path) -> dict[str, Any]:
    """The result of a run without how long it took and how much memory."""
    result: dict[str, Any] = dict(RunFolder(folder).result or {})
    return {key: result[key] for key in result if key not in ("seconds", "peak_memory_mb")}


def trained_step_0(folder: Path) -> bool:
    """Whether a run trained step 0 itself."""
    lines = [json.loads(line) for line in RunFolder(folder).journal.read_text().splitlines()]
    return any(line["phase"] == "step 0" and "loss" in line for line in lines)


def compare(spec: Path, scratch: Path, count: int, after: int) -> dict[str, Any]:
    """Make a table in this process and on a cluster that loses a node; what came of both."""
    ways = {}
    for way in ("one process", "cluster"):
        os.environ["RECALLSEG_CACHE"] = str(scratch / way / "cache")
        out = scratch / way / "runs"
        folders = [folder for cell in plan_table(spec, [], out) for folder, _ in cell.runs]
        if way == "cluster":
            with nodes(count) as cluster:
                killer = Killer(cluster, folders, after)
                killer.start()
                table = make_table(spec, [], out, place=OnRay(None, Resources()))
        else:
            table = make_table(spec, [], out)
        ways[way] = (folders, table)
    (alone, table), (spread, same) = ways.values()
    configs = [config for cell in plan_table(spec, [], scratch) for _, config in cell.runs]
    return {
        "runs": len(spread),
        "nodes": count,
        "killed_in_the_middle": killer.killed,
        "ended": sum(RunFolder(each).result is not None for each in spread),
        "same_numbers": [timeless(a) == timeless(b) for a, b in zip(alone, spread, strict=True)],
        "same_table": table["cells"] == same["cells"],
        "different_step_0": len({first_step_key(config) for config in configs}),
        "trained_step_0": sum(trained_step_0(each) for each in spread),
        "cells": same["cells"],
    }


def main() -> int:
    """Print what came of it; the exit code is 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--scratch", type=Path, help="a folder to work in, and to go on in")
    chosen = parser.parse_args()
    configs = Path(__file__).parents[1].resolve() / "configs/toy"
    with tempfile.TemporaryDirectory() as folder:
        scratch = chosen.scratch or Path(folder)
        if not (scratch / "data").exists():
            write_scenes(scratch / "data", {"train": 120, "val": 20}, seed=0)
        spec = scratch / "short.yaml"
        spec.write_text(TABLE.format(configs=configs, data=scratch / "data"))
        came = compare(spec, scratch, count=3, after=3)
    if chosen.out:
        write_json(chosen.out, came)
    print(json.dumps({key: came[key] for key in came if key != "cells"}, indent=1))  # noqa: T201
    right = all(came["same_numbers"]) and came["ended"] == came["runs"] and came["same_table"]
    once = came["trained_step_0"] == came["different_step_0"]
    return 0 if right and once and came["killed_in_the_middle"] else 1


if __name__ == "__main__":
    sys.exit(main())
