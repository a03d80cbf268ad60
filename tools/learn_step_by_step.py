"""Teach a model the drawn world step by step, and compare it with one run of the benchmark.

    python tools/learn_step_by_step.py FOLDER [key=value ...]

The steps of 15-1 (disjoint) are written as folders of their own; `recallseg learn` is called once
for each, and the folder is deleted before the next call. Then the same seed and settings run as a
benchmark, on the whole dataset. The mIoU after every step must be equal, and the decoders byte for
byte. FOLDER must not exist; each side has a cache of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from recallseg.config import dump_config, flat, load_config, load_preset
from recallseg.data import SegmentationDataset
from recallseg.engine.session.data import RunData
from recallseg.labels import VOID


def recallseg(cache: Path, *words: str | Path) -> None:
    """The command that a person would type; an error ends the comparison."""
    command = [sys.executable, "-m", "recallseg", *map(str, words)]
    environment = os.environ | {"RECALLSEG_CACHE": str(cache)}
    subprocess.run(command, env=environment, check=True)


def write_part(folder: Path, photos: SegmentationDataset, labels: tuple[int, ...]) -> None:
    """Photos with masks of some classes only, as a person who labelled just these would have."""
    for part in ("images", "masks"):
        (folder / part).mkdir(parents=True)
    names = [photos.classes[label] for label in labels]
    (folder / "classes.txt").write_text("\n".join(["background", *names, ""]))
    (folder / "train.txt").write_text("\n".join([*(pair.stem for pair in photos.pairs), ""]))
    table = np.zeros(256, dtype=np.uint8)
    table[list(labels)], table[VOID] = range(1, 1 + len(labels)), VOID
    for row, pair in enumerate(photos.pairs):
        photo, mask = photos.read(row)
        photo.save(folder / "images" / f"{pair.stem}.png")
        Image.fromarray(table[mask]).save(folder / "masks" / f"{pair.stem}.png")


def main(folder: Path, *overrides: str) -> None:
    """Learn step by step, run the benchmark, compare."""
    folder.mkdir(parents=True)
    toy = load_preset("toy", ["method.name=recall", *overrides])
    world, caches = RunData.open(toy), (folder / "cache-1", folder / "cache-2")
    assert world.val is not None
    recallseg(caches[0], "toy", "photos", folder / "photos")
    write_part(folder / "val", world.val, world.scenario.order)
    parts = ("model", "views", "optim", "increment", "helper", "replay", "seed")
    wanted, given = (
        flat({part: config.model_dump(mode="json")[part] for part in parts})
        for config in (toy, load_preset("learn", []))
    )
    del wanted["replay.source"]  # it has an option of its own
    settings = [f"{key}={json.dumps(wanted[key])}" for key in wanted if wanted[key] != given[key]]
    for step in world.scenario:
        part = folder / f"step-{step.index}"
        write_part(part, world.train.subset(step.images), step.new_classes)
        source = ("--source", f"folder:{folder / 'photos'}", "--val", folder / "val")
        recallseg(caches[0], "learn", folder / "model", part, *settings, *source)
        shutil.rmtree(part)

    config = load_config(folder / "model" / "config.yaml")
    changes = {"data": toy.data, "scenario": toy.scenario}
    (folder / "benchmark.yaml").write_text(dump_config(config.model_copy(update=changes)))
    recallseg(caches[1], "run", folder / "benchmark.yaml", "--out", folder / "runs")
    [benchmark] = (folder / "runs").iterdir()
    sides = (folder / "model", benchmark)
    steps = [json.loads((side / "result.json").read_text())["steps"] for side in sides]
    for one, other in zip(*steps, strict=True):
        told = (one["step"], one["miou"]["all"], other["miou"]["all"])
        sys.stdout.write("step {}: all {:.1f} and {:.1f}\n".format(*told))
        assert one["miou"] == other["miou"]
    for step in world.scenario:
        name = f"step-{step.index}/decoder.safetensors"
        assert (folder / "model" / name).read_bytes() == (benchmark / name).read_bytes()
    sys.stdout.write("the metrics are equal, and the decoders byte for byte\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), *sys.argv[2:])
