"""Where a step forgets: the model after it, with one part at a time put back as it was before."""

from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from recallseg.data.opening import open_validation
from recallseg.engine.evaluation.measuring import Counts, evaluate
from recallseg.engine.evaluation.scoring import percent, score
from recallseg.engine.session import Session
from recallseg.errors import RecallsegError
from recallseg.labels import BACKGROUND
from recallseg.model import Segmenter
from recallseg.paper import TRIPLE
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder
from recallseg.scenario import channels_of


class Part(NamedTuple):
    """What of a model is put back."""

    channels_from: int | None = None
    """The first of the classifier's channels, all that were there before follow; None for none."""
    modules: tuple[str, ...] = ()
    """Of `MODULES`."""


MODULES = ("encoder", "tail", "neck")
"""What the classifier sees is made by these."""


def bench_forgetting(path: Path, step: int | None, photos: int | None) -> dict[str, Any]:
    """Measure a model before a step, after it, and after it with parts of the one before.

    If old classes come back with a part, it is where they were forgotten. `old`, `new` and `all`
    are mIoU in percent; `old_pixels` says what pixels of classes known before are taken for;
    `moved` is how far the step moved the classifier's weights of each of them, in percent of their
    length.
    """
    folder = RunFolder.existing(path)
    config = folder.config
    after, index = open_model(folder, step)
    if index == 0:
        raise RecallsegError(f"{path} has no later step in which anything could be forgotten.")
    before, _ = open_model(folder, index - 1)
    if after.encoder.fingerprint() == before.encoder.fingerprint():
        after.encoder = before.encoder
    dataset = open_validation(config.data)
    if photos:
        stems = [pair.stem for pair in dataset.pairs]
        dataset = dataset.subset(stems[:: max(1, len(stems) // photos)][:photos])
    session, about = Session.open(config.in_one_process()), folder.learned()
    known = before.decoder.classes

    def measure(model: Segmenter, at: int, name: str) -> dict[str, Any]:
        names = folder.class_names(at)
        table = channels_of(names, dataset.classes, dataset.root)
        counts = evaluate(session, model, dataset, table, name=name)
        miou = score(at, about["steps"][at], names, about["initial"], counts)["miou"]
        return {kind: miou[kind] for kind in TRIPLE} | {"old_pixels": _old_pixels(counts, known)}

    rows = {"nothing": measure(after, index, "nothing")}
    for name, part in _parts(before, after).items():
        model = deepcopy(after)
        _put_back(model, before, part)
        rows[name] = measure(model, index, name)
    return {
        "run": path.name,
        "step": index,
        "classes": about["steps"][index],
        "photos": len(dataset),
        "before": measure(before, index - 1, "before the step"),
        "put_back": rows,
        "moved": dict(zip(folder.class_names(index - 1), _moved(before, after), strict=True)),
    }


def _module(model: Segmenter, name: str) -> nn.Module | None:
    module: nn.Module | None = getattr(model if name == "encoder" else model.decoder, name)
    return module


def _parts(before: Segmenter, after: Segmenter) -> dict[str, Part]:
    """What the step changed, by the names that results call it."""
    learned = tuple(name for name in MODULES if _module(after, name) is not _module(before, name))
    parts = {
        "channels of old classes": Part(BACKGROUND + 1),
        "channels of old classes and background": Part(BACKGROUND),
        **{name: Part(modules=(name,)) for name in learned},
    }
    if learned:
        parts |= {
            "all that the classifier sees": Part(modules=learned),
            "all that was there": Part(BACKGROUND, learned),
        }
    return parts


@torch.no_grad()
def _put_back(model: Segmenter, before: Segmenter, part: Part) -> None:
    for name in part.modules:
        mine, theirs = _module(model, name), _module(before, name)
        assert mine is not None
        assert theirs is not None
        mine.load_state_dict(theirs.state_dict())
    if part.channels_from is not None:
        both = zip(model.decoder.classifiers(), before.decoder.classifiers(), strict=True)
        for conv, old in both:
            known = slice(part.channels_from, old.out_channels)
            conv.weight[known], conv.bias[known] = old.weight[known], old.bias[known]


@torch.no_grad()
def _moved(before: Segmenter, after: Segmenter) -> list[float]:
    def flat(model: Segmenter) -> torch.Tensor:
        convs = model.decoder.classifiers()
        return torch.cat([conv.weight[: before.decoder.classes].flatten(1) for conv in convs], 1)

    old = flat(before)
    moved = (flat(after) - old).norm(dim=1) / old.norm(dim=1)
    return [round(100 * value, 2) for value in moved.tolist()]


def _old_pixels(counts: Counts, known: int) -> dict[str, float | None]:
    """What pixels of the classes known before, the background left out, are taken for."""
    rows = counts.everywhere[1:known]
    total = rows.sum()
    right = rows.diagonal(1).sum()
    parts = {
        "right": right,
        "background": rows[:, BACKGROUND].sum(),
        "another old class": rows[:, 1:known].sum() - right,
        "a new class": rows[:, known:].sum(),
    }
    return {
        name: percent(float(part) / float(total)) if total else None for name, part in parts.items()
    }
