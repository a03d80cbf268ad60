"""What the parts of a run cost beside what they cannot do without, as ratios of one run."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from recallseg.config import RunConfig
from recallseg.data.opening import open_training, open_validation
from recallseg.engine.samples.sets import Pick, Samples
from recallseg.engine.samples.streams import Shuffled
from recallseg.engine.samples.views import PhotoSet, Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import scenario_of
from recallseg.engine.training.loop import Training, train
from recallseg.engine.training.optimisers import iterations_for
from recallseg.experiments.bare import bare_step, class_ratios
from recallseg.experiments.looking import alone_over_together, evaluation_ratios, look_at
from recallseg.experiments.timing import in_turns, seconds_of, separate_cache
from recallseg.methods import plain_loss
from recallseg.model.building import build_model
from recallseg.runs.folder import RunFolder


@dataclass
class Parts:
    """A model and some photos of a configuration, for measuring."""

    config: RunConfig
    session: Session
    photos: int
    iterations: int

    def __post_init__(self) -> None:
        self.scenario = scenario_of(self.config)
        self.model = build_model(self.config.model, self.scenario[-1].channels)
        self.model.encoder.freeze()
        self.train, self.val = open_training(self.config.data), open_validation(self.config.data)
        self.stems = [stem for step in self.scenario[1:] for stem in step.images]

    def samples(self, stored: bool) -> Samples:
        """Some photos of later steps, their features stored or not."""
        bank = self.config.bank.model_copy(update={"enabled": stored})
        config = self.config.model_copy(update={"bank": bank})
        photos = PhotoSet(self.train, self.stems[: self.photos], self.scenario[-1].evaluation_table)
        supply = Supply(Session(config, self.session.fabric, self.session.reporter, Path()))
        return supply.samples(self.model.encoder, photos, "bench")

    def trainings(self, samples: Samples, name: str) -> dict[str, Callable[[], None]]:
        """A short training as it is in a run, and one that is three times as long."""
        stream = Shuffled(samples, self.config.increment.batch, "bench")
        works: dict[str, Callable[[], None]] = {}
        for times in (1, 3):
            training = Training("bench", self.config.increment, times * self.iterations)
            works[f"{name} × {times}"] = partial(
                train, self.session, training, self.model, stream, plain_loss
            )
        return works

    def training(self) -> dict[str, float]:
        """The plain path and the bank, and what storing features costs."""
        plain, views = self.samples(False), self.config.bank.views
        stored: list[Samples] = []
        fill = seconds_of(lambda: stored.append(self.samples(True)))
        photos = min(self.photos, len(self.stems))
        works: dict[str, Callable[[], object]] = {"bare": bare_step(self.model, self.config)}
        works |= self.trainings(plain, "plain") | self.trainings(stored[0], "bank")
        times = in_turns(works)
        step = {  # what beginning and ending take is in both trainings
            name: (times[f"{name} × 3"] - times[f"{name} × 1"]) / (2 * self.iterations)
            for name in ("plain", "bank")
        } | {"bare": times["bare"]}
        shipped = sum(
            iterations_for(self.config.increment, len(s.new_classes), len(s.images), "disjoint")
            for s in self.scenario[1:]
        )
        encoding = fill / photos * len(self.stems)
        cut = plain.batch([Pick(row, 0) for row in range(photos)]).photos
        assert cut is not None
        ready = list(cut[:, None])
        encoder = self.model.encoder
        bare_encoding = seconds_of(lambda: look_at(encoder, ready)) / len(ready) * views * photos
        return {
            "bank: plain step over stored step": step["plain"] / step["bank"],
            f"bank: the same over {shipped} iterations, encoding included": shipped
            * step["plain"]
            / (shipped * step["bank"] + encoding),
            "steps: stored step over bare decoder": step["bank"] / step["bare"],
            "encode: storing views over bare encoder": fill / bare_encoding,
            "encode: one by one over fours": alone_over_together(encoder, ready),
        }

    def evaluation(self) -> dict[str, float]:
        """Measuring the model on some validation photos."""
        val = self.val.subset([pair.stem for pair in self.val.pairs[: self.photos]])
        return evaluation_ratios(self.session, self.model, val, self.scenario[-1].evaluation_table)


def bench_parts(config: RunConfig, photos: int, iterations: int) -> dict[str, Any]:
    """The ratios of training, storing features, evaluating, and the number of classes."""
    config = config.in_one_process()
    with separate_cache() as folder:
        session = Session.open(config, RunFolder(folder))
        parts = Parts(config, session, photos, iterations)
        return {**parts.training(), **parts.evaluation(), **class_ratios(config)}
