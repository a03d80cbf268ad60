"""What a table costs on paper: floating-point operations, and GPU hours at a rate that you name.

    python tools/cost.py tables/voc-table-1.yaml --presence voc-presence.csv [--tflops 10]

Operations are counted by PyTorch for one photo, forward; a training takes three times as many where
weights learn, and once where they do not. Step 0 counts once for all runs that begin alike.
Evaluation, replay images and reading files are left out.
"""

import argparse
import json
from functools import cache
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from recallseg.config import ModelConfig, RunConfig
from recallseg.config.schema import DataConfig, ScenarioConfig
from recallseg.engine.session.data import scenario_of
from recallseg.engine.training.optimisers import iterations_for
from recallseg.experiments.table_spec import plan_table
from recallseg.files import content_key
from recallseg.methods import build_method
from recallseg.model.building import build_model
from recallseg.scenario import Scenario

LEARNING = 3
"""Forward and backward, in forwards."""


@cache
def operations(model: str, crop: int) -> tuple[int, int]:
    """Of one view, forward: those of the encoder, and those of the decoder with 21 classes."""
    with torch.device("meta"):
        made = build_model(ModelConfig.model_validate_json(model), 21, weights="none").eval()
        photo = torch.zeros(1, 3, crop, crop, dtype=torch.uint8)
        with FlopCounterMode(display=False) as encoding:
            features = made.encoder(photo)
        with FlopCounterMode(display=False) as decoding:
            made.decoder(features)
    return encoding.get_total_flops(), decoding.get_total_flops()


_opened: dict[str, Scenario] = {}


def opened(data: DataConfig, chosen: ScenarioConfig, presence: Path | None) -> Scenario:
    """The scenario of a run, read once for all that share it."""
    key = data.model_dump_json() + chosen.model_dump_json()
    if key not in _opened:
        _opened[key] = scenario_of(RunConfig(data=data, scenario=chosen), presence)
    return _opened[key]


def of_run(config: RunConfig, presence: Path | None) -> tuple[str, float, float]:
    """A key of step 0, its operations, and those of everything after it."""
    method = build_method(config.method)
    scenario = method.steps(opened(config.data, config.scenario, presence))
    encoder, decoder = operations(config.model.model_dump_json(), config.views.crop)
    replays = config.replay.settings is not None
    later = 0.0
    for step in scenario:
        optim = config.increment if step.index else config.optim
        size = (len(step.new_classes), len(step.images), scenario.setup)
        views = iterations_for(optim, *size) * optim.batch * optim.accumulate
        learns = step.index == 0 or config.method.train_encoder
        before = encoder + decoder if method.defaults and step.index else 0
        if step.index == 0:
            first = views * LEARNING * (encoder + decoder)
        elif learns:
            later += views * (LEARNING * (encoder + decoder) + before)
        else:
            stored = len(step.images) * config.bank.views * config.bank.enabled
            encoded = stored if config.bank.enabled else views
            later += encoded * encoder + views * LEARNING * decoder
        if replays:
            helper = config.helper.optim
            later += iterations_for(helper, *size) * helper.batch * LEARNING * decoder
    key = content_key(
        config.optim.model_dump(), config.model.model_dump(), config.views.model_dump(),
        scenario[0].images, scenario.setup == "overlapped", config.seed,
        getattr(type(method).initial_loss, "__qualname__", ""),
    )  # fmt: skip
    return key, first, later


def bank_at_most(config: RunConfig, presence: Path | None) -> list[float]:
    """How many times as many operations the plain path takes as stored features: in a step, and
    over all later steps of a run with the encoding of their views; both freeze the encoder."""
    scenario = opened(config.data, config.scenario, presence)
    encoder, decoder = operations(config.model.model_dump_json(), config.views.crop)
    optim, learning = config.increment, LEARNING * decoder
    drawn = stored = 0
    for step in scenario[1:]:
        size = (len(step.new_classes), len(step.images), scenario.setup)
        drawn += iterations_for(optim, *size) * optim.batch * optim.accumulate
        stored += len(step.images) * config.bank.views
    plain = drawn * (encoder + learning)
    ratios = (encoder + learning) / learning, plain / (drawn * learning + stored * encoder)
    return [round(each, 2) for each in ratios]


def main() -> None:
    """Print the sums."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--presence", type=Path)
    parser.add_argument("--tflops", type=float, default=10.0, help="what a GPU really does")
    chosen = parser.parse_args()
    steps_0: dict[str, float] = {}
    runs: dict[str, float] = {}
    every_step_0, of_photo, bank = 0.0, {}, {}
    for cell in plan_table(chosen.table, [], Path("runs")):
        for _, config in cell.runs:
            key, first, later = of_run(config, chosen.presence)
            steps_0[key] = first
            every_step_0 += first
            one = operations(config.model.model_dump_json(), config.views.crop)
            of_photo[f"{config.model.encoder} {config.model.decoder} {config.views.crop} px"] = [
                round(each / 1e9, 2) for each in one
            ]
            runs[f"{cell.row} {cell.scenario} {cell.setup}"] = later
            if cell.row == "FT":
                bank[f"{cell.scenario} {cell.setup}"] = bank_at_most(config, chosen.presence)
    longest = max(runs, key=lambda name: runs[name])
    hours = 3600 * chosen.tflops * 1e12
    about = {
        "runs": len(runs),
        "different_step_0": len(steps_0),
        "gflop_of_a_photo": of_photo,
        "bank_at_most_in_a_step_and_in_ft": bank,
        "step_0_pflop_not_shared": round(every_step_0 / 1e15),
        "step_0_pflop": round(sum(steps_0.values()) / 1e15),
        "later_pflop": round(sum(runs.values()) / 1e15),
        "longest_after_step_0": longest,
        "its_pflop": round(runs[longest] / 1e15),
        "tflops": chosen.tflops,
        "gpu_hours": round((sum(steps_0.values()) + sum(runs.values())) / hours, 1),
    }
    print(json.dumps(about, indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
