"""What the parts of a run cost beside what they cannot do without, as ratios of one run."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from recallseg.config import RunConfig
from recallseg.data.opening import open_training, open_validation
from recallseg.data.transforms import ViewRecipe, photo_tensor
from recallseg.data.working_size import at_working_size
from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.samples.sets import Pick, Samples
from recallseg.engine.samples.streams import Shuffled
from recallseg.engine.samples.views import PhotoSet, Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import scenario_of
from recallseg.engine.training.loop import Training, train
from recallseg.engine.training.optimisers import iterations_for
from recallseg.experiments.timing import in_turns, seconds_of, separate_cache
from recallseg.methods import Batch, plain_loss
from recallseg.model import Segmenter
from recallseg.model.building import build_model
from recallseg.model.cores import on_every_core
from recallseg.runs.folder import RunFolder

CLASSES = (10, 20, 50, 150)
AT_ONCE = 4
"""Views or photos of one size that are looked at together, where that is compared."""


def bare_step(model: Segmenter, config: RunConfig) -> Callable[[], None]:
    """Forward, loss and backward of the decoder on a batch of features in memory."""
    crop, stride = config.views.crop, config.views.label_stride
    side = ViewRecipe(crop, label_stride=stride).label_size
    batch = config.increment.batch
    features = torch.randn(batch, *model.encoder.feature_shape(crop))
    labels = torch.randint(0, model.decoder.classes, (batch, side, side), dtype=torch.uint8)
    samples = Batch(labels, features=features, label_stride=stride)
    model.encoder.freeze()

    def step() -> None:
        plain_loss(model, samples).backward()  # type: ignore[no-untyped-call]
        model.zero_grad(set_to_none=True)

    return step


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
        bare_encoding = seconds_of(lambda: self._encode(ready)) / len(ready) * views * photos
        return {
            "bank: plain step over stored step": step["plain"] / step["bank"],
            f"bank: the same over {shipped} iterations, encoding included": shipped
            * step["plain"]
            / (shipped * step["bank"] + encoding),
            "steps: stored step over bare decoder": step["bank"] / step["bare"],
            "encode: storing views over bare encoder": fill / bare_encoding,
            "encode: one by one over fours": self._alone_over_together(ready, self._encode),
        }

    def _encode(self, batches: list[Tensor]) -> None:
        for _ in on_every_core(self.model.encoder, batches):
            pass

    def _look(self, batches: list[Tensor]) -> None:
        def classes(batch: Tensor) -> Tensor:
            logits: Tensor = self.model(batch).logits
            return logits.max(dim=1).indices

        for _ in on_every_core(classes, batches):
            pass

    def _alone_over_together(
        self, ready: list[Tensor], look: Callable[[list[Tensor]], None]
    ) -> float:
        """The time of photos one by one over that of batches of those of one size."""
        by_size: dict[torch.Size, list[Tensor]] = {}
        for photo in ready:
            by_size.setdefault(photo.shape, []).append(photo)
        groups = [
            torch.cat(same[at : at + AT_ONCE])
            for same in by_size.values()
            for at in range(0, len(same), AT_ONCE)
        ]
        times = in_turns({"alone": lambda: look(ready), "fours": lambda: look(groups)}, rounds=3)
        return times["alone"] / times["fours"]

    def evaluation(self) -> dict[str, float]:
        """Measuring a model on a split beside the bare model on tensors that are ready."""
        val = self.val.subset([pair.stem for pair in self.val.pairs[: self.photos]])
        side = self.config.views.longer_side
        images = [at_working_size(val.read(row)[0], side) for row in range(len(val))]
        ready = [photo_tensor(image)[None] for image in images]
        table = self.scenario[-1].evaluation_table
        works: dict[str, Callable[[], object]] = {
            "whole": lambda: evaluate(self.session, self.model, val, table),
            "bare": lambda: self._look(ready),
        }
        times = in_turns(works, rounds=3)
        return {
            "evaluate: a split over the bare model": times["whole"] / times["bare"],
            "evaluate: one by one over fours": self._alone_over_together(ready, self._look),
        }

    def classes(self) -> dict[str, float]:
        """What a step of the bare decoder costs with more classes."""
        models = {count: build_model(self.config.model, 1 + count, "none") for count in CLASSES}
        works = {str(count): bare_step(model, self.config) for count, model in models.items()}
        times = in_turns(works)
        few = str(CLASSES[0])
        return {
            f"classes: bare decoder step with {count} over {few}": times[str(count)] / times[few]
            for count in CLASSES[1:]
        }


def bench_parts(config: RunConfig, photos: int, iterations: int) -> dict[str, Any]:
    """The ratios of training, storing features, evaluating, and the number of classes."""
    config = config.in_one_process()
    with separate_cache() as folder:
        session = Session.open(config, RunFolder(folder))
        parts = Parts(config, session, photos, iterations)
        return {**parts.training(), **parts.evaluation(), **parts.classes()}
