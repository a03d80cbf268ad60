"""All ratios that the design promises something about, in one table."""

import os
from pathlib import Path
from typing import Any

from recallseg.config import MethodConfig, OptimConfig, ReplayConfig, RunConfig
from recallseg.engine.runner import run
from recallseg.experiments.parts import bench_parts
from recallseg.experiments.prediction import bench_prediction
from recallseg.experiments.scaling import bench_processes
from recallseg.experiments.serving import bench_serve
from recallseg.experiments.side_by_side import bench_side_by_side
from recallseg.experiments.timing import separate_cache
from recallseg.progress import waiting
from recallseg.waiting import usable_cores

WANTED = {
    "bank: the same": "≥ 10",
    "steps: stored step": "≤ 1.2",
    "cores: two runs at once, half of them each, over in turn": "≤ 1.15",
}
"""By how the name of a ratio begins, what is promised of it."""
ITERATIONS = 6
"""Of the short trainings that are timed."""


def bench_all(config: RunConfig, photos: int) -> dict[str, Any]:
    """Every ratio by name, with what is promised of some, and how busy the machine was."""
    before = os.getloadavg()
    ratios: dict[str, float] = {}
    with waiting("Training, storing and evaluating in turns"):
        ratios |= bench_parts(config, photos, ITERATIONS)
    with separate_cache() as folder, waiting("Predicting and serving"):
        model = _quick_model(config, folder / "run")
        predicted = bench_prediction(model, photos)
        served = bench_serve(
            model, photos=8, requests=2 * photos, clients=8, slow_clients=0, endurance=0
        )
        ratios["predict: bare model over photos from files"] = predicted["speed"]
        ratios["serve: predictions in memory over answers"] = served["of_predictions"]["throughput"]
    with waiting("Training in two processes"):
        ratios |= bench_processes(config, ITERATIONS)
    with waiting("Two trainings side by side"):
        ratios |= bench_side_by_side(config, ITERATIONS)
    return {
        "cores": usable_cores(),
        "load_average": [round(each, 1) for each in (before[0], os.getloadavg()[0])],
        "dataset": config.data.name,
        "encoder": config.model.encoder,
        "photos": photos,
        "ratios": {name: round(value, 3) for name, value in ratios.items()},
        "wanted": {
            name: wish
            for name in ratios
            for start, wish in WANTED.items()
            if name.startswith(start)
        },
    }


def _quick_model(config: RunConfig, folder: Path) -> Path:
    """A model that learned next to nothing, to be used as any other."""
    short = config.optim.model_copy(update={"iterations_per_class": 0.1, "epochs": None})
    quick = config.in_one_process().model_copy(
        update={
            "method": MethodConfig(name="joint"),
            "optim": OptimConfig.model_validate(short.model_dump()),
            "replay": ReplayConfig(),
            "keep_predictions": False,
        }
    )
    run(quick, folder)
    return folder
