"""What the later steps of a run cost, beside the bare decoder, which is timed in the same run."""

import json
import os
import re
import statistics
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from recallseg.config import RunConfig
from recallseg.engine.runner import run
from recallseg.engine.session import Session
from recallseg.engine.session.data import scenario_of
from recallseg.engine.training.loop import Training, train
from recallseg.errors import RecallsegError
from recallseg.experiments.bare import bare_step
from recallseg.experiments.timing import Stolen, in_turns, seconds_of
from recallseg.files import cache_root
from recallseg.methods import build_method
from recallseg.model import Segmenter
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import ResultRecord
from recallseg.waiting import usable_cores

PARTS = {
    "encoding": r".*: encode",
    "steps": r"step [1-9]\d*(, second pass)?",
    "helpers": r"helper .*",
    "labels": r"label .*",
    "measuring": r"evaluate .*",
}
"""Where time goes, by what a phase of a run is called."""
FIRST = r"(step|helper|evaluate step) 0\b.*"
"""What phases of step 0 are called."""


def bench_increments(config: RunConfig, keep: Path | None = None) -> dict[str, Any]:
    """Run a configuration and add up where the time of its later steps goes.

    Features that are stored already are not encoded again; `encoding` is what the others took. The
    run is left in the folder `keep`, if there is one.
    """
    if keep and keep.exists():
        raise RecallsegError(f"{keep} is there already; a run is timed from its beginning.")
    if len(build_method(config.method).steps(scenario_of(config))) == 1:
        raise RecallsegError(f"'{config.method.name}' learns in one step; there are no later ones.")
    load, stolen, beside = os.getloadavg()[0], Stolen(), BesideBare()
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="recallseg-bench-", dir=root) as scratch:
        folder = keep or Path(scratch)
        results: list[ResultRecord] = []
        whole = seconds_of(
            lambda: results.append(run(config.in_one_process(), folder, trainer=beside))
        )
        journal = RunFolder(folder).journal.read_text(encoding="utf-8").splitlines()
    taken = stolen.share()
    seconds, step_0, iterations = _seconds(map(json.loads, journal))
    whole -= step_0 + beside.spent
    bare = statistics.median(beside.times)
    return {
        "method": config.method.name,
        "scenario": config.scenario.spec,
        "setup": config.scenario.setup,
        "cores": usable_cores(),
        "load_average": [round(each, 1) for each in (load, os.getloadavg()[0])],
        "stolen_by_the_host": None if taken is None else round(taken, 3),
        "later_steps": len(results[0]["steps"]) - 1,
        "iterations": iterations,
        "bare_decoder_ms": round(1000 * bare, 1),
        "seconds": {part: round(each, 3) for part, each in seconds.items()}
        | {"rest": round(whole - sum(seconds.values()), 3), "all": round(whole, 3)},
        "over_bare_decoder": {
            "an iteration": round(seconds["steps"] / iterations / bare, 2),
            "an increment": round(whole / iterations / bare, 2),
        },
        "miou": results[0]["steps"][-1]["miou"],
    }


def _seconds(journal: Iterable[dict[str, Any]]) -> tuple[dict[str, float], float, int]:
    """What the parts of later steps took, what step 0 took, and iterations of the later steps."""
    seconds = dict.fromkeys(PARTS, 0.0)
    step_0, iterations = 0.0, 0
    for entry in journal:
        if "seconds" not in entry:
            continue
        part = next((p for p, name in PARTS.items() if re.fullmatch(name, entry["phase"])), None)
        if re.fullmatch(FIRST, entry["phase"]):
            step_0 += entry["seconds"]
        elif part:
            seconds[part] += entry["seconds"]
            iterations += entry["parts"] if part == "steps" else 0
    return seconds, step_0, iterations


class BesideBare:
    """The training loop; before and after each later step the bare decoder is timed."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.spent = 0.0
        """Seconds of all that is not part of a run."""

    def __call__(
        self,
        session: Session,
        training: Training,
        model: Segmenter,
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> None:
        """Train as in any run."""
        is_increment = re.fullmatch(PARTS["steps"], training.name) is not None
        if is_increment:
            self._time(model, session.config)
        train(session, training, model, *rest, **named)
        if is_increment:
            self._time(model, session.config)

    def _time(self, model: Segmenter, config: RunConfig) -> None:
        def look() -> None:
            with torch.random.fork_rng():
                step = bare_step(deepcopy(model), config)
            self.times.append(in_turns({"bare": step})["bare"])

        self.spent += seconds_of(look)
