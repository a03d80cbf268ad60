"""Measure a served model under load: as fast as the bare model, fair, steady and up to date."""

import io
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from recallseg.data import open_dataset
from recallseg.data.decoding import read_photo
from recallseg.data.transforms import photo_tensor
from recallseg.experiments.load import Load, ServedModel, SlowClients, photo_form
from recallseg.model.cores import on_every_core
from recallseg.predict.predictor import Predictor
from recallseg.predict.step_models import BATCH
from recallseg.runs.folder import RunFolder

SMALL = 64
"""Pixels of a side of the photos that a server is sent by the thousand."""


def bench_serve(
    path: Path,
    *,
    photos: int = 40,
    requests: int = 300,
    clients: int = 32,
    slow_clients: int = 200,
    endurance: int = 3000,
) -> dict[str, Any]:
    """What a server of a run does with its validation photos, beside the bare model.

    `throughput` is the server's photos per second over the bare model's, which goes through tensors
    that are ready in memory, on the same cores before and after. `cpu` compares the CPU time of a
    photo in the same way and is less disturbed by whatever else runs. Every number is of this one
    run of the benchmark.
    """
    data = RunFolder.existing(path).config.data
    pairs = open_dataset(data.name, data.val, data.root).pairs[:photos]
    paths = [pair.photo for pair in pairs]
    bare = BareModel(path, paths)
    forms = [photo_form(each.read_bytes(), each.name) for each in paths]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        shutil.copytree(path, model, ignore=shutil.ignore_patterns("state", "predictions.zip"))
        with ServedModel(model) as server:
            server.load(forms, clients, requests=len(forms))  # warm
            before = bare.round(requests)
            plain = server.load(forms, clients, requests)
            after = bare.round(requests)
            with SlowClients(server.port, slow_clients):
                beside_slow = server.load(forms, clients, requests)
            reloaded = _reload_under_load(server, model, forms, clients, requests)
            memory = _memory(server, clients, endurance)
    bare_seconds = (before[0] + after[0]) / 2
    bare_cpu = (before[1] + after[1]) / 2
    return {
        "requests": requests,
        "clients": clients,
        "cores": os.cpu_count(),
        "load_average": [round(each, 1) for each in os.getloadavg()],
        "answered": plain.answered,
        "photos_per_second": round(plain.per_second, 2),
        "bare_photos_per_second": round(requests / bare_seconds, 2),
        "throughput": round(plain.per_second * bare_seconds / requests, 3),
        "cpu": round(bare_cpu / plain.cpu_seconds, 3),
        "p50_s": round(plain.percentile(50), 3),
        "p99_s": round(plain.percentile(99), 3),
        "p99_over_p50": round(plain.percentile(99) / plain.percentile(50), 2),
        "slow_clients": slow_clients,
        "answered_beside_slow": beside_slow.answered,
        "p99_beside_slow_over_p99": round(beside_slow.percentile(99) / plain.percentile(99), 2),
        **reloaded,
        **memory,
    }


class BareModel:
    """The last step's model on tensors that are ready, batches of one size, a core for each."""

    def __init__(self, path: Path, paths: list[Path]) -> None:
        self.model = Predictor.open(path, device="cpu").model
        self.photos = [photo_tensor(read_photo(each)) for each in paths]

    def round(self, count: int) -> tuple[float, float]:
        """Wall and CPU seconds for so many photos."""
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

        start, cpu = time.perf_counter(), time.process_time()
        for _ in on_every_core(look, batches):
            pass
        return time.perf_counter() - start, time.process_time() - cpu


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


def _small_photo() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((SMALL, SMALL), 90).convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()
