"""The adversarial training loop."""

import math
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from recallseg.engine.gan.players import Players
from recallseg.engine.gan.settings import GanSettings
from recallseg.engine.reporting import Reporter
from recallseg.errors import RecallsegError
from recallseg.losses import hinge_discriminator, hinge_generator
from recallseg.replay.generator import truncated_noise
from recallseg.replay.training import augment
from recallseg.replay.training.images import Draws

NAME = "generator"
DRAWS, NOISE = 1, 2
"""Keep the two kinds of random numbers apart."""
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


def play(
    players: Players, draws: Draws, settings: GanSettings, iteration: int
) -> tuple[float, float]:
    """One iteration: the discriminator's steps, then the generator's; both losses.

    The generated images of the last discriminator step are also those of the generator step, so
    that they are made and seen once.
    """
    last = settings.discriminator_steps - 1
    for part in range(last):
        with torch.no_grad():
            fake, classes = imagine(players, settings, iteration, part)
        teach(players, draws, settings, iteration, part, fake, classes)
    fake, classes = imagine(players, settings, iteration, last)
    loss_d = teach(players, draws, settings, iteration, last, fake, classes)
    loss_g = hinge_generator(players.discriminator.judge(fake, classes))
    learning = [*players.generator.parameters()]
    loss_g.backward(inputs=learning)  # type: ignore[no-untyped-call]
    players.generator_adam.step()
    players.generator_adam.zero_grad(set_to_none=True)
    players.average.update(iteration)
    return loss_d, loss_g.item()


def imagine(
    players: Players, settings: GanSettings, iteration: int, part: int
) -> tuple[list[Tensor], Tensor]:
    """What the discriminator sees of a batch of generated images, and their class ids."""
    device, config = settings.torch_device(), players.generator.config
    rng = np.random.default_rng([NOISE, settings.seed, iteration, part])
    classes = torch.from_numpy(rng.integers(config.num_classes, size=settings.batch)).to(device)
    seed = (NOISE, settings.seed, iteration, part, 1)
    noise = truncated_noise(settings.batch, config.z_dim, seed=seed)
    images = players.generator(noise.to(device), classes)
    return players.discriminator.see(augment(images, rng)), classes


def teach(
    players: Players,
    draws: Draws,
    settings: GanSettings,
    iteration: int,
    part: int,
    fake: list[Tensor],
    fake_classes: Tensor,
) -> float:
    """One step of the discriminator on real and generated images; its loss."""
    rng = np.random.default_rng([DRAWS, settings.seed, iteration, part])
    images, real_classes = draws.batch(settings.batch, rng)
    with torch.no_grad():
        real = players.discriminator.see(augment(images.to(fake[0].device), rng))
    seen = [torch.cat([one, other.detach()]) for one, other in zip(real, fake, strict=True)]
    classes = torch.cat([real_classes.to(fake_classes.device), fake_classes])
    scores = players.discriminator.judge(seen, classes)
    loss = hinge_discriminator(*scores.chunk(2))
    loss.backward()  # type: ignore[no-untyped-call]
    players.discriminator_adam.step()
    players.discriminator_adam.zero_grad(set_to_none=True)
    return loss.item()
