"""How much time the feature bank saves: the same steps with and without it."""

import json
from pathlib import Path
from typing import Any

from recallseg.config import RunConfig
from recallseg.engine.runner import run
from recallseg.experiments.bare import bare_step
from recallseg.experiments.timing import in_turns, separate_cache
from recallseg.files import bank_root
from recallseg.model.bank import bytes_on_disk
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import ResultRecord

TIMED = 30


def bench_bank(config: RunConfig) -> dict[str, Any]:
    """Run the later steps of a configuration with and without the bank; compare time and mIoU.

    Both start from the same step 0. `encoding` is what the bank costs once; runs that share an
    encoder and its photos share it.
    """
    with separate_cache() as folder:
        modes = {}
        for name, enabled in (("bank", True), ("plain", False)):
            settings = config.bank.model_copy(update={"enabled": enabled})
            result = run(config.model_copy(update={"bank": settings}), folder / name)
            modes[name] = _summary(folder / name, result, len(result["steps"]))
        modes["bank"]["disk_mb"] = round(bytes_on_disk(bank_root()) / 2**20, 1)
        modes["bank"]["budget_mb"] = round(config.bank.budget_gb * 2**10, 1)
        model, _ = open_model(RunFolder.existing(folder / "bank"))
    bare = round(1000 * in_turns({"bare": bare_step(model, config)}, rounds=TIMED)["bare"], 2)
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
