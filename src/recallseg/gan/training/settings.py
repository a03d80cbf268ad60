"""Every setting of a generator's training, and the files that it leaves."""

import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from recallseg.errors import RecallsegError, unknown_name
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.training.discriminators import DISCRIMINATORS

SUFFIX = ".safetensors"
TRUNCATIONS = 11
"""The number of truncations with own statistics, from 0 to 1 in tenths."""
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class GanSettings:
    """How a generator is trained; the defaults are those of the shipped one of the drawn world."""

    resolution: int = 64
    iterations: int = 3_200
    batch: int = 24
    width: int = 32
    """The generator's channels at full resolution; it has 16 times as many at 4×4."""
    noise: int = 32
    """The length of the noise vector, and of the class embedding."""
    first_side: int = 16
    """The resolution of the output of the generator's first layer."""
    attention: int = 0
    """The resolution of the attention layer, 0 for none."""
    seed: int = 0
    device: str = "auto"
    discriminator: str = "projected"
    encoder_side: int = 64
    """Smaller images are enlarged to this for the `projected` discriminator's encoder."""
    discriminator_steps: int = 1
    guidance: float = 5.0
    """The weight of the guide's loss, which asks for real images, beside the discriminator's."""
    guided: int = 500
    """Iterations with the guide alone; later half of the images are made from random noise."""
    generator_lr: float = 1.5e-3
    discriminator_lr: float = 5e-4
    ema: float = 0.995
    """Decay of the moving average of the generator's weights, which are saved."""
    mirror: bool = True
    checkpoint_seconds: float = 60.0
    sheet_every: int = 500

    def __post_init__(self) -> None:
        """Refuse what cannot be trained, before anything is read."""
        self.config(2)
        for name, options in (("discriminator", DISCRIMINATORS), ("device", DEVICES)):
            if getattr(self, name) not in options:
                raise unknown_name(name, getattr(self, name), options)
        for name in ("noise", "iterations", "discriminator_steps", "sheet_every", "encoder_side"):
            if getattr(self, name) < 1:
                raise RecallsegError(f"{name} must be at least 1, not {getattr(self, name)}.")
        if self.batch < 2:
            raise RecallsegError(f"A batch needs 2 images to be normalised, not {self.batch}.")
        if not (self.generator_lr > 0 and self.discriminator_lr > 0 and 0 <= self.ema < 1):
            raise RecallsegError("Learning rates are above 0, and ema is at least 0 and below 1.")
        for name in ("seed", "guidance", "guided"):
            if getattr(self, name) < 0:
                raise RecallsegError(f"{name} is at least 0, not {getattr(self, name)}.")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise RecallsegError("torch finds no CUDA device; use device auto or cpu.")

    def config(self, num_classes: int) -> BigGANConfig:
        """The generator's architecture."""
        config = BigGANConfig.at(
            self.resolution,
            channel_width=self.width,
            num_classes=num_classes,
            attention=self.attention,
            first_side=self.first_side,
        )
        return replace(config, z_dim=self.noise, class_embed_dim=self.noise, n_stats=TRUNCATIONS)

    def without_guide(self, iteration: int) -> int:
        """How many images of a batch are made from random noise, without the guide."""
        if not self.guidance:
            return self.batch
        return 0 if iteration < self.guided else self.batch // 2

    def torch_device(self) -> torch.device:
        """Where to train; `auto` takes a GPU if there is one."""
        best = "cuda" if torch.cuda.is_available() else "cpu"
        return torch.device(best if self.device == "auto" else self.device)

    def identity(self) -> dict[str, Any]:
        """The settings that the weights depend on, apart from the number of iterations."""
        without = {"iterations", "device", "checkpoint_seconds", "sheet_every"}
        return {key: value for key, value in asdict(self).items() if key not in without}


@dataclass(frozen=True)
class Outputs:
    """The generator's file, and the files beside it that carry its name."""

    generator: Path

    @classmethod
    def at(cls, path: Path) -> "Outputs":
        """Refuse, before any work, a path that cannot be written."""
        if path.suffix != SUFFIX:
            raise RecallsegError(f"A generator's file ends in {SUFFIX}, unlike {path}.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            raise RecallsegError(
                f"The output folder {path.parent} cannot be written ({error.strerror}); give "
                "another path."
            ) from error
        return cls(path)

    def beside(self, ending: str) -> Path:
        """NAME with another ending."""
        return self.generator.with_name(self.generator.name.removesuffix(SUFFIX) + ending)

    @property
    def classifier(self) -> Path:
        """The linear head for the class mapping."""
        return self.beside(".classifier.safetensors")

    @property
    def recipe(self) -> Path:
        """Settings, data and quality; written last."""
        return self.beside(".json")

    @property
    def sheet(self) -> Path:
        """Samples, one row per class."""
        return self.beside(".png")

    @property
    def checkpoint(self) -> Path:
        """What a training continues from: an interrupted one, or one with more iterations."""
        return self.beside(".training.pt")

    @property
    def journal(self) -> Path:
        """The losses, line by line."""
        return self.beside(".jsonl")
