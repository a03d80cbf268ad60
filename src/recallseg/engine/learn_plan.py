"""What a call of `recallseg learn` would do, worked out without training or writing anything."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from recallseg.config import OptimConfig, RunConfig, flat, load_preset
from recallseg.data.folder import listing, splits
from recallseg.engine.learn_call import LearnCall, replay_counts
from recallseg.engine.learn_settings import WORKING_SIDE
from recallseg.engine.samples.views import view_recipe
from recallseg.engine.training.optimisers import build_optimizer, iterations_for
from recallseg.methods import Batch, plain_loss
from recallseg.model import Segmenter
from recallseg.model.bank import bytes_per_view
from recallseg.model.building import build_model

CHOSEN = ("scenario.spec", "data.root")
"""Settings that the photos of a call decide."""


def plan(call: LearnCall, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The step with its photos, replay images, settings, iterations, time and disk space.

    Times are those of a few trial iterations on random numbers, on this machine as it is now.
    """
    step, config = call.data.scenario[call.index], call.config
    replay = replay_counts(call)
    fetched = sum(
        config.replay.images_per_class if count is None else count for count in replay.values()
    )
    lengths = _iterations(call)
    return {
        "model": str(call.folder.path),
        "step": call.index,
        "classes": call.taught.names,
        "refines": not step.new_classes,
        "photos": {
            "used": len(step.images),
            "by_class": call.showing,
            "left_out": _left_out(call),
        },
        "replay": {
            "source": config.replay.settings.title if config.replay.settings else None,
            "most_per_class": config.replay.images_per_class,
            "by_class": replay if config.replay.settings else dict.fromkeys(call.old_names, 0),
        },
        "measured_on": len(call.data.val) if call.data.val else None,
        "iterations": lengths,
        **_cost(call, lengths, len(step.images), fetched if config.replay.settings else 0),
        "settings": _settings(call, overrides),
        "notes": list(call.sentences),
    }


def _left_out(call: LearnCall) -> dict[str, int]:
    """How many photos of the folder are not learned from, by reason."""
    root, used = call.photos.root, len(call.data.scenario[call.index].images)
    reasons = {f"show none of {', '.join(call.taught.names)}": len(call.photos) - used}
    if "val" in splits(root):
        reasons["are listed in val.txt"] = len(listing(root, "val").stems)
    return {reason: count for reason, count in reasons.items() if count}


def _iterations(call: LearnCall) -> dict[str, int]:
    """How long each training of the step is, by its name."""
    config, step = call.config, call.data.scenario[call.index]

    def length(optim: OptimConfig, classes: int) -> int:
        return iterations_for(optim, classes, len(step.images), config.scenario.setup)

    optim = config.increment if call.index else config.optim
    lengths = {f"step {call.index}": length(optim, len(step.taught))}
    reused = call.index == 0 and config.helper.initial == "reuse"
    if step.new_classes and not reused and config.helper.scope != "model":
        lengths[f"helper {call.index}"] = length(config.helper.optim, len(step.new_classes))
    return lengths


def _settings(call: LearnCall, overrides: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Every setting in force and where it comes from."""
    begun = bool(call.folder.finished_steps())
    now, preset = _flat(call.config), _flat(load_preset("learn"))
    before = _flat(call.folder.config_before(())) if begun else preset
    defaults = _flat(RunConfig())
    given = {word.partition("=")[0] for word in overrides}

    def origin(key: str) -> str:
        if any(key == word or key.startswith(f"{word}.") for word in given):
            return "this call"
        if key in CHOSEN or (key == WORKING_SIDE and not begun):
            return "the photos"
        if key not in before or now[key] != before[key]:
            return "this call"
        if key not in preset or now[key] != preset[key]:
            return "an earlier call"
        same = key in defaults and defaults[key] == now[key]
        return "default" if same else "preset learn"

    return {key: {"value": value, "from": origin(key)} for key, value in now.items()}


def _flat(config: RunConfig) -> dict[str, Any]:
    return flat(config.model_dump(mode="json"))


def _cost(call: LearnCall, lengths: dict[str, int], photos: int, fetched: int) -> dict[str, Any]:
    """Seconds and bytes, from trial iterations with a model of the same shape."""
    config, step = call.config, call.data.scenario[call.index]
    model = build_model(config.model, step.channels, weights="none")
    recipe = view_recipe(config.views, model.encoder)
    side = recipe.label_size
    optim = config.increment if call.index else config.optim
    views = torch.zeros(optim.batch, 3, recipe.crop, recipe.crop, dtype=torch.uint8)
    labels = torch.zeros(optim.batch, side, side, dtype=torch.uint8)
    batch = Batch(labels, photos=views, label_stride=recipe.label_stride)
    seconds, stored = 0.0, 0
    if call.index > 0 or model.encoder.frozen:
        model.encoder.freeze()
        bank = config.bank
        number = photos * bank.views + fetched * (bank.replay_views or bank.views)
        with torch.no_grad():
            encode = _quickest(lambda: model.encoder(views[:1]))
            features = model.encoder(views)
        batch = batch._replace(photos=None, features=features)
        seconds += encode * number
        stored = number * bytes_per_view(model.encoder, recipe)
    seconds += _quickest(_training_step(model, optim, batch)) * sum(lengths.values())
    kept = _bytes(model.decoder) * (1 + len(lengths) // 2) + (
        0 if call.index else _bytes(model.encoder)
    )
    return {"seconds": round(seconds), "bytes_meanwhile": stored, "bytes_kept": kept}


def _training_step(model: Segmenter, optim: OptimConfig, batch: Batch) -> Callable[[], None]:
    optimizer = build_optimizer(model, optim)

    def step() -> None:
        for _ in range(optim.accumulate):
            plain_loss(model, batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def _quickest(work: Callable[[], object], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _bytes(module: nn.Module) -> int:
    return sum(tensor.nbytes for tensor in module.state_dict().values())
