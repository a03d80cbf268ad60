"""The adversarial training loop."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from recallseg.errors import RecallsegError
from recallseg.gan.generator import truncated_noise
from recallseg.gan.training.augment import augment
from recallseg.gan.training.guide import drawn_from
from recallseg.gan.training.images import Draws
from recallseg.gan.training.players import Players
from recallseg.gan.training.settings import GanSettings
from recallseg.losses import hinge_discriminator, hinge_generator, normal_divergence
from recallseg.reporter import Reporter

NAME = "generator"
PIXELS, DIVERGENCE = 8.0, 0.005
"""Weights of the pixels and of the guide's divergence, beside 1 for features."""
MOST_LINES = 200
"""The largest number of lines that one training adds to the journal."""


def train(
    players: Players,
    draws: Draws,
    settings: GanSettings,
    reporter: Reporter,
    start: int,
    *,
    look: Callable[[int], None],
    keep: Callable[[int], None],
) -> None:
    """Train from iteration `start` to the last; `look` and `keep` are called from time to time.

    All random numbers of an iteration depend only on the seed and its number.
    """
    if start > settings.iterations:
        raise RecallsegError(
            f"The saved training is already at iteration {start}; ask for more than that, or give "
            "another output."
        )
    if start:
        reporter.say(f"{NAME}: continuing at iteration {start}")
    reporter.forget_after(NAME, start)
    every = max(1, settings.iterations // MOST_LINES)
    saved = time.monotonic()
    with reporter.phase(NAME, settings.iterations, start) as phase:
        for iteration in range(start, settings.iterations):
            losses = play(players, draws, settings, iteration)
            _check(all(map(math.isfinite, losses)), "losses", iteration)
            if iteration % every == 0 or iteration == settings.iterations - 1:
                values = dict(zip(("loss_d", "loss_g"), losses, strict=True))
                reporter.note(phase=NAME, iteration=iteration, **values)
            text = f"  D {losses[0]:.3f}  G {losses[1]:.3f}"
            phase.advance(1, text, per_second=(settings.batch, "images"))
            if (iteration + 1) % settings.sheet_every == 0:
                look(iteration + 1)
            if time.monotonic() - saved > settings.checkpoint_seconds:
                _check(players.is_finite(), "weights", iteration)
                keep(iteration + 1)
                saved = time.monotonic()
    if start < settings.iterations:
        _check(players.is_finite(), "weights", settings.iterations - 1)
        keep(settings.iterations)


def _check(finite: bool, what: str, iteration: int) -> None:
    """Stop before numbers that nothing can be computed with are saved."""
    if not finite:
        raise RecallsegError(
            f"The {what} are not finite at iteration {iteration}; train with lower learning rates."
        )


@dataclass(frozen=True)
class StepImages:
    """The images of one step, as the features that the discriminator judges."""

    real: list[Tensor]
    real_classes: Tensor
    fake: list[Tensor]
    fake_classes: Tensor
    guide_loss: Tensor
    """The distance of the images made from the guide's noise from those that the guide saw."""


def play(
    players: Players, draws: Draws, settings: GanSettings, iteration: int
) -> tuple[float, float]:
    """One iteration: the discriminator's steps, then the generator's; both losses.

    The generated images of the last discriminator step are also those of the generator step, so
    that they are made and encoded once. The first `guided` iterations use only the guide.
    """
    last = settings.discriminator_steps - 1
    alone = settings.without_guide(iteration) == 0
    for part in range(0 if alone else last):
        with torch.no_grad():
            step = deal(players, draws, settings, iteration, part)
        teach(players, step)
    step = deal(players, draws, settings, iteration, last)
    loss_d = 0.0 if alone else teach(players, step)
    loss_g = settings.guidance * step.guide_loss
    if not alone:
        scores = players.discriminator.judge(step.fake, step.fake_classes)
        loss_g = loss_g + hinge_generator(scores)
    loss_g.backward(inputs=players.creative)  # type: ignore[no-untyped-call]
    players.generator_adam.step()
    players.generator_adam.zero_grad(set_to_none=True)
    players.average.update(iteration)
    return loss_d, loss_g.item()


def deal(
    players: Players, draws: Draws, settings: GanSettings, iteration: int, part: int
) -> StepImages:
    """Real images, and as many generated ones: some from random noise, some from the guide's."""
    rng = np.random.default_rng([settings.seed, iteration, part])
    device, config = settings.torch_device(), players.generator.config
    images, real_classes = (tensor.to(device) for tensor in draws.batch(settings.batch, rng))
    free = settings.without_guide(iteration)
    chance = torch.from_numpy(rng.integers(config.num_classes, size=free)).to(device)
    classes = torch.cat([chance, real_classes[free:]])
    noise = truncated_noise(free, config.z_dim, seed=(settings.seed, iteration, part)).to(device)
    mean, spread = players.guide(images[free:], classes[free:])
    normal = torch.from_numpy(rng.standard_normal(mean.shape)).float().to(device)
    made = players.generator(torch.cat([noise, drawn_from(mean, spread, normal)]), classes)
    changes = rng.integers(2**32)
    fake = players.discriminator.see(augment(made, np.random.default_rng(changes)))
    with torch.no_grad():
        real = players.discriminator.see(augment(images, np.random.default_rng(changes)))
    guide_loss = made.new_zeros(())
    if free < settings.batch:
        after = [(made, images), *zip(fake, real, strict=True)]
        gaps = [(one[free:] - other[free:]).abs().mean() for one, other in after]
        divergence = normal_divergence(mean, spread).mean()
        guide_loss = PIXELS * gaps[0] + sum(gaps[1:]) / len(fake) + DIVERGENCE * divergence
    return StepImages(real, real_classes, fake, classes, guide_loss)


def teach(players: Players, step: StepImages) -> float:
    """One step of the discriminator on real and generated images; its loss."""
    both = zip(step.real, step.fake, strict=True)
    features = [torch.cat([real, fake.detach()]) for real, fake in both]
    classes = torch.cat([step.real_classes, step.fake_classes])
    loss = hinge_discriminator(*players.discriminator.judge(features, classes).chunk(2))
    loss.backward()  # type: ignore[no-untyped-call]
    players.discriminator_adam.step()
    players.discriminator_adam.zero_grad(set_to_none=True)
    return loss.item()
