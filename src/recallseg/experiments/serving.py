"""Measure a served model under load: as fast as the bare model, fair, steady and up to date."""

import io
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from recallseg.data import open_dataset
from recallseg.data.decoding import decode_photo, read_photo
from recallseg.data.transforms import photo_tensor
from recallseg.data.working_size import at_working_size
from recallseg.experiments.load import Load, ServedModel, SlowClients, photo_form
from recallseg.model.cores import on_every_core
from recallseg.predict.glance import BATCH
from recallseg.predict.predictor import Predictor
from recallseg.runs.folder import RunFolder

SMALL = 64
"""Pixels of a side of the photos that a server is sent by the thousand."""


def bench_serve(
    path: Path,
    *,
    photos: int = 40,
    longer_side: int | None = None,
    requests: int = 300,
    clients: int = 32,
    slow_clients: int = 200,
    endurance: int = 3000,
) -> dict[str, Any]:
    """What a server of a run does with its validation photos, beside the bare model.

    `throughput` is the server's photos per second over the bare model's, which makes the class of
    each pixel from tensors that are ready in memory, on the same cores before and after. `cpu`
    compares the CPU time of a photo in the same way and is less disturbed by whatever else runs.
    `of_predictions` are both beside predictions of photos that are ready in memory: masks with
    scores, as an answer holds them. With `longer_side` photos are
    brought to a size first. Every number is of this one run of the benchmark.
    """
    data = RunFolder.existing(path).config.data
    pairs = open_dataset(data.name, data.val, data.root).pairs[:photos]
    files = [_photo_file(pair.photo, longer_side) for pair in pairs]
    bare = BareModel(path, files)
    forms = [photo_form(each, "photo.jpg") for each in files]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        shutil.copytree(path, model, ignore=shutil.ignore_patterns("state", "predictions.zip"))
        with ServedModel(model) as server:
            server.load(forms, clients, requests=len(forms))  # warm
            before = bare.round(requests), bare.predicted(requests)
            plain = server.load(forms, clients, requests)
            after = bare.round(requests), bare.predicted(requests)
            with SlowClients(server.port, slow_clients):
                beside_slow = server.load(forms, clients, requests)
            reloaded = _reload_under_load(server, model, forms, clients, requests)
            memory = _memory(server, clients, endurance)
    classes, predictions = (Cost.mean(pair) for pair in zip(before, after, strict=True))
    served = Cost(plain.wall, plain.cpu_seconds)
    return {
        "requests": requests,
        "clients": clients,
        "cores": os.cpu_count(),
        "load_average": [round(each, 1) for each in os.getloadavg()],
        "answered": plain.answered,
        "photos_per_second": round(plain.per_second, 2),
        "bare_photos_per_second": round(requests / classes.wall, 2),
        "throughput": round(classes.wall / served.wall, 3),
        "cpu": round(classes.cpu / served.cpu, 3),
        "of_predictions": {
            "throughput": round(predictions.wall / served.wall, 3),
            "cpu": round(predictions.cpu / served.cpu, 3),
        },
        "p50_s": round(plain.percentile(50), 3),
        "p99_s": round(plain.percentile(99), 3),
        "p99_over_p50": round(plain.percentile(99) / plain.percentile(50), 2),
        "slow_clients": slow_clients,
        "answered_beside_slow": beside_slow.answered,
        "p99_beside_slow_over_p99": round(beside_slow.percentile(99) / plain.percentile(99), 2),
        **reloaded,
        **memory,
    }


@dataclass(frozen=True)
class Cost:
    """Seconds that some photos took."""

    wall: float
    cpu: float

    @classmethod
    def of(cls, work: Callable[[], object]) -> "Cost":
        """What work in this process costs."""
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return cls(time.perf_counter() - wall, time.process_time() - cpu)

    @classmethod
    def mean(cls, costs: Sequence["Cost"]) -> "Cost":
        """What it costs on average."""
        walls, cpus = [each.wall for each in costs], [each.cpu for each in costs]
        return cls(sum(walls) / len(walls), sum(cpus) / len(cpus))


class BareModel:
    """The last step's model on photos that are ready, batches of one size, a core for each."""

    def __init__(self, path: Path, files: list[bytes]) -> None:
        predictor = Predictor.open(path, device="cpu")
        side = predictor.models.working_side
        self.model = predictor.model
        self.predictor = predictor
        self.images = [decode_photo(io.BytesIO(each), "The photo") for each in files]
        self.photos = [photo_tensor(at_working_size(each, side)) for each in self.images]

    def predicted(self, count: int) -> Cost:
        """What predictions of so many photos cost."""
        images = itertools.islice(itertools.cycle(self.images), count)
        return Cost.of(lambda: list(self.predictor.predict_many(images)))

    def round(self, count: int) -> Cost:
        """What the classes of all pixels of so many photos cost."""
        by_size: dict[torch.Size, list[torch.Tensor]] = {}
        for number in range(count):
            photo = self.photos[number % len(self.photos)]
            by_size.setdefault(photo.shape, []).append(photo)
        batches = [
            group[start : start + BATCH]
            for group in by_size.values()
            for start in range(0, len(group), BATCH)
        ]

        def look(batch: list[torch.Tensor]) -> None:
            self.model(torch.stack(batch)).logits.max(dim=1)

        return Cost.of(lambda: list(on_every_core(look, batches)))


def _reload_under_load(
    server: ServedModel, model: Path, forms: list[bytes], clients: int, requests: int
) -> dict[str, Any]:
    """Write the last decoder again while requests come, and see that nobody notices."""
    folder = RunFolder(model)
    decoder = folder.step(folder.finished_steps()[-1]).decoder

    def change() -> None:
        copy = decoder.with_name("copy")
        shutil.copyfile(decoder, copy)
        copy.replace(decoder)

    load = Load(server.port, forms, clients, requests)
    load.start()
    change()
    opened = server.wait_for('recallseg_reloads_total{outcome="opened",run="model"}')
    load.finish()
    return {
        "reloads_under_load": int(opened),
        "failed_during_reload": requests - load.answered,
    }


def _memory(server: ServedModel, clients: int, requests: int) -> dict[str, Any]:
    """Resident memory of the server after a tenth of many small requests, and at the end."""
    if not requests:
        return {}
    forms = [photo_form(_small_photo(), "small.png")]
    server.load(forms, clients, requests // 10)
    first = server.metric("process_resident_memory_bytes")
    load = server.load(forms, clients, requests - requests // 10)
    last = server.metric("process_resident_memory_bytes")
    return {
        "endurance": requests,
        "answered_in_endurance": load.answered + requests // 10,
        "memory_mb": [round(first / 2**20), round(last / 2**20)],
    }


def _photo_file(path: Path, longer_side: int | None) -> bytes:
    """The file of a photo, or one with the photo at another size."""
    if longer_side is None:
        return path.read_bytes()
    buffer = io.BytesIO()
    at_working_size(read_photo(path), longer_side).save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


def _small_photo() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((SMALL, SMALL), 90).convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()
