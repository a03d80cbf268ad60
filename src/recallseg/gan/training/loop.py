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
"""How much a pixel counts beside a feature, and a nat of what the guide tells of an image."""
LINES = 200
"""Lines that one training adds to the journal, at most."""


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
    """Play from iteration `start` to the last; now and then, and with its number, call the others.

    All that an iteration draws depends on the seed and its number alone.
    """
    if start > settings.iterations:
        raise RecallsegError(
            f"The saved training is at iteration {start} already; ask for more than that, or give "
            "another output."
        )
    if start:
        reporter.say(f"{NAME}: going on at iteration {start}")
    reporter.forget_after(NAME, start)
    every = max(1, settings.iterations // LINES)
    saved = time.monotonic()
    with reporter.phase(NAME, settings.iterations, start) as phase:
        for iteration in range(start, settings.iterations):
            losses = play(players, draws, settings, iteration)
            if not all(map(math.isfinite, losses)):
                raise RecallsegError(
                    f"The losses are no numbers any more at iteration {iteration}; train with "
                    "lower learning rates."
                )
            if iteration % every == 0 or iteration == settings.iterations - 1:
                told = dict(zip(("loss_d", "loss_g"), losses, strict=True))
                reporter.note(phase=NAME, iteration=iteration, **told)
            text = f"  D {losses[0]:.3f}  G {losses[1]:.3f}"
            phase.advance(1, text, per_second=(settings.batch, "images"))
            if (iteration + 1) % settings.sheet_every == 0:
                look(iteration + 1)
            if time.monotonic() - saved > settings.checkpoint_seconds:
                keep(iteration + 1)
                saved = time.monotonic()
    if start < settings.iterations:
        keep(settings.iterations)


@dataclass(frozen=True)
class Dealt:
    """What the players see in one step: of each image what the discriminator judges."""

    real: list[Tensor]
    real_classes: Tensor
    fake: list[Tensor]
    fake_classes: Tensor
    astray: Tensor
    """How far the images made after the guide's noise are from those that it was shown."""


def play(
    players: Players, draws: Draws, settings: GanSettings, iteration: int
) -> tuple[float, float]:
    """One iteration: the discriminator's steps, then the generator's; both losses.

    The generated images of the last discriminator step are also those of the generator step, so
    that they are made and seen once. Until `guided` iterations are over there is only the guide.
    """
    last = settings.discriminator_steps - 1
    alone = settings.by_chance(iteration) == 0
    for part in range(0 if alone else last):
        with torch.no_grad():
            dealt = deal(players, draws, settings, iteration, part)
        teach(players, dealt)
    dealt = deal(players, draws, settings, iteration, last)
    loss_d = 0.0 if alone else teach(players, dealt)
    loss_g = settings.guidance * dealt.astray
    if not alone:
        scores = players.discriminator.judge(dealt.fake, dealt.fake_classes)
        loss_g = loss_g + hinge_generator(scores)
    loss_g.backward(inputs=players.creative)  # type: ignore[no-untyped-call]
    players.generator_adam.step()
    players.generator_adam.zero_grad(set_to_none=True)
    players.average.update(iteration)
    return loss_d, loss_g.item()


def deal(players: Players, draws: Draws, settings: GanSettings, iteration: int, part: int) -> Dealt:
    """Real images, and as many generated ones: by chance, and after some of the real ones."""
    rng = np.random.default_rng([settings.seed, iteration, part])
    device, config = settings.torch_device(), players.generator.config
    images, real_classes = (each.to(device) for each in draws.batch(settings.batch, rng))
    free = settings.by_chance(iteration)
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
    astray = made.new_zeros(())
    if free < settings.batch:
        after = [(made, images), *zip(fake, real, strict=True)]
        gaps = [(one[free:] - other[free:]).abs().mean() for one, other in after]
        told = normal_divergence(mean, spread).mean()
        astray = PIXELS * gaps[0] + sum(gaps[1:]) / len(fake) + DIVERGENCE * told
    return Dealt(real, real_classes, fake, classes, astray)


def teach(players: Players, dealt: Dealt) -> float:
    """One step of the discriminator on real and generated images; its loss."""
    both = zip(dealt.real, dealt.fake, strict=True)
    seen = [torch.cat([real, fake.detach()]) for real, fake in both]
    classes = torch.cat([dealt.real_classes, dealt.fake_classes])
    loss = hinge_discriminator(*players.discriminator.judge(seen, classes).chunk(2))
    loss.backward()  # type: ignore[no-untyped-call]
    players.discriminator_adam.step()
    players.discriminator_adam.zero_grad(set_to_none=True)
    return loss.item()
