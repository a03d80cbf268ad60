"""How much time the feature bank saves: the same steps with and without it."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from recallseg.config import RunConfig
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.runner import run
from recallseg.engine.session.shared import BANK, STEP_0
from recallseg.files import cache_root
from recallseg.methods import Batch, plain_loss
from recallseg.model import Segmenter
from recallseg.model.bank import bytes_on_disk
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import ResultRecord

WARM_UP, TIMED = 5, 30


def bench_bank(config: RunConfig) -> dict[str, Any]:
    """Run the later steps of a configuration with and without the bank; compare time and mIoU.

    Both start from the same step 0. `encoding` is what the bank costs once; runs that share an
    encoder and its photos share it.
    """
    with _separate_cache() as folder:
        modes = {}
        for name, enabled in (("bank", True), ("plain", False)):
            settings = config.bank.model_copy(update={"enabled": enabled})
            result = run(config.model_copy(update={"bank": settings}), folder / name)
            modes[name] = _summary(folder / name, result, len(result["steps"]))
        modes["bank"]["disk_mb"] = round(bytes_on_disk(cache_root() / BANK) / 2**20, 1)
        modes["bank"]["budget_mb"] = round(config.bank.budget_gb * 2**10, 1)
        model, _ = open_model(RunFolder.existing(folder / "bank"))
    bare = _bare_step(model, config)
    bank, plain = modes["bank"], modes["plain"]
    return {
        "method": config.method.name,
        "scenario": config.scenario.spec,
        "modes": modes,
        "bare_decoder_ms": bare,
        "speed_up": round(plain["training_s"] / bank["training_s"], 2),
        "speed_up_with_encoding": round(
            plain["training_s"] / (bank["training_s"] + bank["encoding_s"]), 2
        ),
        "step_over_bare_decoder": round(bank["iteration_ms"] / bare, 2),
        "miou_difference": round(bank["miou"] - plain["miou"], 3),
    }


@contextmanager
def _separate_cache() -> Iterator[Path]:
    """A temporary cache without features, but with the shared step 0."""
    shared = cache_root()
    (shared / STEP_0).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="recallseg-bench-", dir=shared) as name:
        folder = Path(name)
        (folder / "cache").mkdir()
        (folder / "cache" / STEP_0).symlink_to(shared / STEP_0)
        before = os.environ.get("RECALLSEG_CACHE")
        os.environ["RECALLSEG_CACHE"] = str(folder / "cache")
        try:
            yield folder
        finally:
            if before is None:
                del os.environ["RECALLSEG_CACHE"]
            else:
                os.environ["RECALLSEG_CACHE"] = before


def _summary(folder: Path, result: ResultRecord, steps: int) -> dict[str, Any]:
    lines = RunFolder(folder).journal.read_text(encoding="utf-8").splitlines()
    timed = [entry for entry in map(json.loads, lines) if "seconds" in entry]
    training = [
        entry for entry in timed if entry["phase"] in {f"step {k}" for k in range(1, steps)}
    ]
    encoding = [entry for entry in timed if entry["phase"].endswith(": encode")]
    seconds = sum(entry["seconds"] for entry in training)
    iterations = sum(entry["parts"] for entry in training)
    return {
        "training_s": round(seconds, 2),
        "encoding_s": round(sum(entry["seconds"] for entry in encoding), 2),
        "iterations": iterations,
        "iteration_ms": round(1000 * seconds / iterations, 2),
        "miou": result["steps"][-1]["miou"]["all"],
        "peak_memory_mb": result["peak_memory_mb"],
    }


def _bare_step(model: Segmenter, config: RunConfig) -> float:
    """Milliseconds for forward, loss and backward of the decoder on features in memory."""
    crop, stride = config.views.crop, config.views.label_stride
    side = ViewRecipe(crop, label_stride=stride).label_size
    batch = config.increment.batch
    features = torch.randn(batch, *model.encoder.feature_shape(crop))
    labels = torch.randint(0, model.decoder.classes, (batch, side, side), dtype=torch.uint8)
    samples = Batch(labels, features=features, label_stride=stride)
    model.encoder.freeze()
    seconds = []
    for _ in range(WARM_UP + TIMED):
        start = time.perf_counter()
        plain_loss(model, samples).backward()  # type: ignore[no-untyped-call]
        seconds.append(time.perf_counter() - start)
        model.zero_grad(set_to_none=True)
    return round(1000 * sorted(seconds[WARM_UP:])[TIMED // 2], 2)
