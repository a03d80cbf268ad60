"""A discriminator on the features of a frozen ImageNet encoder (Sauer et al., NeurIPS 2021)."""

import recallseg.torchvision_guard  # noqa: F401

import math
from typing import Any, Self

import timm
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.training.judging import ClassScore, Discriminator
from recallseg.gan.training.spectral import add_spectral_norm
from recallseg.model.weights import create, timm_name

ENCODER = "efficientnet_lite0"
STAGES = (1, 2, 3, 4)
SPREADS = (9.0, 8.0, 7.0, 3.0)
"""The standard deviation of each stage on photos, which the mixing divides by."""
WIDTH = 64
POOLED_SIDE = 4


class Head(nn.Module):
    """Judges the maps of one stage, brought down to about 4×4 by strided convolutions."""

    def __init__(self, side: int, num_classes: int) -> None:
        super().__init__()
        halvings = max(0, round(math.log2(side / POOLED_SIDE)))
        strided = [nn.Conv2d(WIDTH, WIDTH, 4, stride=2, padding=1) for _ in range(halvings)]
        self.convolutions = nn.ModuleList([*strided, nn.Conv2d(WIDTH, WIDTH, 3, padding=1)])
        self.score = ClassScore(WIDTH, num_classes)

    def forward(self, maps: Tensor, classes: Tensor) -> Tensor:
        """Scores (B,) of maps (B,WIDTH,h,w) for class ids (B,)."""
        for convolution in self.convolutions:
            maps = F.leaky_relu(convolution(maps), 0.2)
        score: Tensor = self.score(maps.mean((2, 3)), classes)
        return score


class ProjectedDiscriminator(Discriminator):
    """Four stages of Lite0, each with a fixed random mixing of its channels and a head.

    The encoder and the mixing are never trained. Images smaller than `side` px are enlarged to it:
    the encoder's last stage is too coarse for smaller ones.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, config: BigGANConfig, side: int = 128) -> None:
        super().__init__()
        self.side = max(side, config.output_dim)
        self.encoder = create(ENCODER, "imagenet", features_only=True, out_indices=STAGES)
        info: Any = self.encoder.feature_info
        stages = zip(info.channels(), SPREADS, strict=True)
        self.mixers = nn.ModuleList(_mixer(channels, spread) for channels, spread in stages)
        for fixed in (self.encoder, self.mixers):
            fixed.requires_grad_(False)
        self.heads = nn.ModuleList(
            Head(self.side // stride, config.num_classes) for stride in info.reduction()
        )
        add_spectral_norm(self.heads)
        about = timm.get_pretrained_cfg(timm_name(ENCODER))
        for key, values in (("mean", about.mean), ("std", about.std)):
            self.register_buffer(key, torch.tensor(values).view(3, 1, 1), persistent=False)

    def see(self, images: Tensor) -> list[Tensor]:
        """The mixed maps (B,WIDTH,h,w) of each stage, the finest first."""
        if images.shape[-1] < self.side:
            images = F.interpolate(images, (self.side, self.side), mode="bilinear")
        normal = ((images + 1) / 2 - self.mean) / self.std
        maps = self.encoder(normal.contiguous(memory_format=torch.channels_last))
        return [mixer(stage) for mixer, stage in zip(self.mixers, maps, strict=True)]

    def judge(self, features: list[Tensor], classes: Tensor) -> Tensor:
        """One score per stage, (B,4)."""
        scores = [head(maps, classes) for head, maps in zip(self.heads, features, strict=True)]
        return torch.stack(scores, dim=1)

    def train(self, mode: bool = True) -> Self:
        """Training mode, except for the encoder, whose BatchNorm must not move."""
        super().train(mode)
        self.encoder.eval()
        return self


def _mixer(channels: int, spread: float) -> nn.Conv2d:
    """Random sums of all channels, of about unit variance."""
    mixer = nn.Conv2d(channels, WIDTH, 1, bias=False)
    nn.init.normal_(mixer.weight, std=1 / (spread * math.sqrt(channels)))
    return mixer
