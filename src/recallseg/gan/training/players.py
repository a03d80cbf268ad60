"""Generator and discriminator with all that a training has to save to be continued."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from recallseg.errors import RecallsegError
from recallseg.files import atomic_path
from recallseg.gan.biggan import BigGAN
from recallseg.gan.training.discriminators import build_discriminator
from recallseg.gan.training.fresh_generator import finished, trainable_generator
from recallseg.gan.training.guide import Guide
from recallseg.gan.training.judging import Discriminator
from recallseg.gan.training.settings import GanSettings
from recallseg.gan.training.statistics import standing_statistics
from recallseg.model.average import MovingAverage
from recallseg.model.finite import all_finite, optimizer_tensors

BETAS = (0.0, 0.999)


@dataclass
class Players:
    """Generator, its guide, and discriminator, with their optimisers and a moving average."""

    generator: BigGAN
    guide: Guide
    discriminator: Discriminator
    generator_adam: torch.optim.Adam
    discriminator_adam: torch.optim.Adam
    average: MovingAverage

    @classmethod
    def new(cls, settings: GanSettings, num_classes: int) -> "Players":
        """Untrained players, which depend only on the settings."""
        config, device = settings.config(num_classes), settings.torch_device()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            generator = trainable_generator(config).to(device)
            guide = Guide(config.z_dim, num_classes).to(device)
            discriminator = build_discriminator(
                settings.discriminator, config, settings.encoder_side
            ).to(device)
        creative = [*generator.parameters(), *guide.parameters()]
        critical = [p for p in discriminator.parameters() if p.requires_grad]
        return cls(
            generator,
            guide,
            discriminator,
            torch.optim.Adam(creative, settings.generator_lr, BETAS),
            torch.optim.Adam(critical, settings.discriminator_lr, BETAS),
            MovingAverage(generator.parameters(), settings.ema),
        )

    @property
    def creative(self) -> list[torch.nn.Parameter]:
        """The parameters of the generator and its guide."""
        return [*self.generator.parameters(), *self.guide.parameters()]

    def is_finite(self) -> bool:
        """Whether a training can be continued from here."""
        networks = (self.generator, self.guide, self.discriminator)
        weights = [value for each in networks for value in each.state_dict().values()]
        moments = [*optimizer_tensors(self.generator_adam)]
        moments += optimizer_tensors(self.discriminator_adam)
        return all_finite([*weights, *moments, *self.average.values])

    def save(self, path: Path, key: str, iteration: int) -> None:
        """Save everything that is needed to continue with `iteration`."""
        values = {
            "key": key,
            "iteration": iteration,
            "generator": self.generator.state_dict(),
            "guide": self.guide.state_dict(),
            "discriminator": self.discriminator.state_dict(),
            "generator_adam": self.generator_adam.state_dict(),
            "discriminator_adam": self.discriminator_adam.state_dict(),
            "average": self.average.values,
        }
        with atomic_path(path) as temporary:
            torch.save(values, temporary)

    def resume(self, path: Path, key: str) -> int:
        """Load what was saved of the same training; gives the iteration to continue with."""
        if not path.is_file():
            return 0
        saved = _read(path)
        if saved.get("key") != key:
            raise RecallsegError(
                f"{path} belongs to a training with other settings or images; delete it, or give "
                "another output."
            )
        self.generator.load_state_dict(saved["generator"])
        self.guide.load_state_dict(saved["guide"])
        self.discriminator.load_state_dict(saved["discriminator"])
        self.generator_adam.load_state_dict(saved["generator_adam"])
        self.discriminator_adam.load_state_dict(saved["discriminator_adam"])
        self.average.restore(saved["average"])
        return int(saved["iteration"])

    def result(self, settings: GanSettings, *, whole: bool = True) -> BigGAN:
        """The generator to be saved: the averaged weights, with their own statistics.

        If not `whole` it has statistics for truncation 1 only, which is enough for a sheet.
        """
        generator = finished(self.generator, self.average.values)
        rows = None if whole else [generator.config.n_stats - 1]
        standing_statistics(generator, batch=settings.batch, seed=settings.seed, rows=rows)
        return generator


def _read(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is not None:
                raise ValueError("a checksum differs")
        values: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises a dozen kinds for a broken file
        raise RecallsegError(f"{path} cannot be read; delete it to start again.") from error
    return values
