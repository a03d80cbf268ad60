"""What a run would do, worked out without training anything."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from recallseg.config import RunConfig
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.session.data import scenario_of
from recallseg.engine.training.optimisers import iterations_for
from recallseg.experiments.settings import settings
from recallseg.methods import build_method
from recallseg.model.bank import bytes_per_view
from recallseg.model.building import build_decoder, build_model


def plan(config: RunConfig, presence: Path | None = None) -> dict[str, Any]:
    """The steps of a run with their photos and iterations, the size of every part of it, and the
    settings it is trained with, in words.

    `helper_parameters` are those that RECALL's helper decoders take, one per step, on this encoder.
    """
    method = build_method(config.method)
    scenario = method.steps(scenario_of(config, presence))
    with torch.device("meta"):
        model = build_model(config.model, scenario[-1].channels, weights="none")
        helpers = [
            build_decoder(config.model, model.encoder, 1 + len(step.new_classes))
            for step in scenario
        ]
    steps = []
    for step in scenario:
        optim = config.optim if step.index == 0 else config.increment
        steps.append(
            {
                "images": len(step.images),
                "iterations": iterations_for(
                    optim, len(step.new_classes), len(step.images), scenario.setup
                ),
            }
        )
    return {
        "encoder_parameters": parameters(model.encoder),
        "decoder_parameters": parameters(model.decoder),
        "helper_parameters": [parameters(helper) for helper in helpers],
        "steps": steps,
        "settings": settings(config, method),
    }


def bank_bytes(config: RunConfig, photos: int) -> int:
    """The disk space that the features of `photos` photos would take."""
    with torch.device("meta"):
        model = build_model(config.model, 2, weights="none")
        recipe = ViewRecipe(config.views.crop, label_stride=config.views.label_stride)
        return photos * config.bank.views * bytes_per_view(model.encoder, recipe)


def parameters(module: nn.Module) -> int:
    """How many trainable numbers a module has."""
    return sum(parameter.numel() for parameter in module.parameters())
