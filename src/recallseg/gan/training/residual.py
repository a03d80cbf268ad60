"""BigGAN's own discriminator: residual blocks that halve the image (Brock et al., 2019)."""

from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from recallseg.gan.biggan_config import WIDTHS, BigGANConfig
from recallseg.gan.training.judging import ClassScore, Discriminator
from recallseg.gan.training.spectral import add_spectral_norm


class DownBlock(nn.Module):
    """Two convolutions beside a 1×1 shortcut, then the mean of every 2×2 pixels if `down`."""

    def __init__(self, before: int, after: int, down: bool) -> None:
        super().__init__()
        self.down = down
        self.first = nn.Conv2d(before, after, 3, padding=1)
        self.second = nn.Conv2d(after, after, 3, padding=1)
        self.shortcut = nn.Conv2d(before, after, 1)

    def forward(self, x: Tensor) -> Tensor:
        """From x (B,before,H,W) to (B,after,H,W), or half as high and wide."""
        inner = self.second(F.relu(self.first(F.relu(x))))
        both: Tensor = inner + self.shortcut(x)
        return F.avg_pool2d(both, 2) if self.down else both


class ResidualDiscriminator(Discriminator):
    """As many channels at each size as the generator has, and all weights under spectral norm."""

    def __init__(self, config: BigGANConfig) -> None:
        super().__init__()
        widths = [config.channel_width * width for width in reversed(WIDTHS[config.output_dim])]
        self.stem = nn.Conv2d(3, widths[0], 3, padding=1)
        halving = [DownBlock(before, after, down=True) for before, after in pairwise(widths)]
        self.blocks = nn.Sequential(*halving, DownBlock(widths[-1], widths[-1], down=False))
        self.score = ClassScore(widths[-1], config.num_classes)
        add_spectral_norm(self)

    def see(self, images: Tensor) -> list[Tensor]:
        """The images as they are."""
        return [images]

    def judge(self, features: list[Tensor], classes: Tensor) -> Tensor:
        """One score per image, (B,1), from the sum of the last maps over all positions."""
        maps = F.relu(self.blocks(self.stem(features[0])))
        score: Tensor = self.score(maps.sum((2, 3)), classes)
        return score[:, None]
