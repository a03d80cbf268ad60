"""Example predictions: validation photos chosen by rule, with every method's masks per step."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image

from recallseg.data.dataset import Mask
from recallseg.data.opening import open_validation
from recallseg.data.pictures import LONGER_SIDE, Pictures
from recallseg.data.shrink import resized
from recallseg.errors import RecallsegError
from recallseg.labels import VOID
from recallseg.report.images import mask_address, photo_address
from recallseg.report.runs import Run
from recallseg.report.series import Series
from recallseg.scenario import channels_of

CANDIDATES = 240
"""The number of photos that a rule chooses from; drawn at random, to be quick on large splits."""
PER_RULE = 3
"""The number of photos that each rule chooses."""
MOST_METHODS = 12
"""The largest number of methods shown side by side."""


@dataclass(frozen=True)
class Example:
    """A photo with its true mask and the predicted ones, as `data:` addresses."""

    stem: str
    rule: str
    size: tuple[int, int]
    photo: str
    truth: str
    classes: tuple[int, ...]
    """The channels in it."""
    steps: dict[str, tuple[str, ...]]
    """By method: the prediction after each step."""


class Viewer:
    """The photos of a task, and the predictions that its runs left."""

    def __init__(self, all_series: Sequence[Series]) -> None:
        """Raises a RecallsegError if there are no photos or no predictions."""
        runs = {series.label: series.first for series in all_series}
        self.runs = {
            label: run for label, run in runs.items() if run.steps and _archive(run, 0).names()
        }
        if not self.runs:
            raise RecallsegError("no run kept its predictions (`keep_predictions`).")
        run = next(iter(self.runs.values()))
        self.dataset = open_validation(run.config.data)
        self.initial: int = run.classes["initial"]
        names = run.classes["channels"]
        self.table = channels_of(names, self.dataset.classes, self.dataset.root)
        self.rows = {pair.stem: row for row, pair in enumerate(self.dataset.pairs)}
        self.read = cache(self._read)

    def choose(self, seed: int = 0) -> list[tuple[str, str]]:
        """(stem, rule): most forgotten by the worst method, best kept by the best, and random."""
        stems = self._candidates(seed)
        learners = {label: run for label, run in self.runs.items() if len(run.steps) > 1}
        rules: dict[str, str] = {}
        if learners:
            ranked = sorted(learners, key=lambda label: learners[label].scores()["all"] or 0)
            worst, best = learners[ranked[0]], learners[ranked[-1]]
            lost = {
                stem: self.score(worst, 0, stem) - self.score(worst, -1, stem) for stem in stems
            }
            retained = {stem: self.score(best, -1, stem) for stem in stems}
            self._take(rules, lost, f"most forgotten by {ranked[0]}")
            self._take(rules, retained, f"best kept by {ranked[-1]}")
        left = [stem for stem in stems if stem not in rules]
        rules |= dict.fromkeys(left[:PER_RULE], f"drawn at random, seed {seed}")
        return list(rules.items())

    def show(self, stem: str, rule: str) -> Example:
        """A photo with the prediction of every method after every step."""
        photo, truth = self.read(stem)
        steps = {
            label: tuple(
                mask_address(_archive(run, step).mask(stem)) for step in range(len(run.steps))
            )
            for label, run in list(self.runs.items())[:MOST_METHODS]
        }
        classes = tuple(int(channel) for channel in np.unique(truth) if channel not in (0, VOID))
        return Example(
            stem, rule, photo.size, photo_address(photo), mask_address(truth), classes, steps
        )

    def score(self, run: Run, step: int, stem: str) -> float:
        """IoU after a step of all old classes of a photo, counted together."""
        index = step % len(run.steps)
        predicted, truth = _archive(run, index).mask(stem), self.read(stem)[1]
        truly_old = (truth > 0) & (truth <= self.initial)
        predicted_old = (predicted > 0) & (predicted <= self.initial)
        union = (truly_old | predicted_old) & (truth != VOID)
        return float(((predicted == truth) & truly_old).sum() / max(1, union.sum()))

    def _candidates(self, seed: int) -> list[str]:
        """Photos of old classes that every run predicted, in an order that the seed decides."""
        common = set.intersection(*(set(_archive(run, 0).names()) for run in self.runs.values()))
        stems = sorted(common & self.rows.keys())
        random.Random(f"{seed}/report").shuffle(stems)
        return [stem for stem in stems[:CANDIDATES] if self._shows_old(stem)]

    def _shows_old(self, stem: str) -> bool:
        truth = self.read(stem)[1]
        return bool(((truth > 0) & (truth <= self.initial)).mean() > 0.05)

    def _take(self, rules: dict[str, str], points: dict[str, float], rule: str) -> None:
        """Add the photos with the most points to `rules`, one per main class."""
        mains: set[int] = set()
        for stem in sorted(points, key=lambda stem: -points[stem]):
            main = _main_class(self.read(stem)[1])
            if stem not in rules and main not in mains and len(mains) < PER_RULE:
                rules[stem] = rule
                mains.add(main)

    def _read(self, stem: str) -> tuple[Image.Image, Mask]:
        photo, mask = self.dataset.read(self.rows[stem])
        size = resized(photo.size, LONGER_SIDE)
        small = Image.fromarray(self.table[mask]).resize(size, Image.Resampling.NEAREST)
        return photo.resize(size, Image.Resampling.LANCZOS), np.asarray(small)


@cache
def _open(path: str) -> Pictures:
    return Pictures(path)


def _archive(run: Run, step: int) -> Pictures:
    return _open(str(run.folder.step(step).predictions))


def _main_class(truth: Mask) -> int:
    counts = np.bincount(truth[(truth > 0) & (truth != VOID)], minlength=1)
    return int(counts.argmax())
