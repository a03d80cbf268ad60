"""The decoder that MiB, SDR and their comparisons use: DeepLab-V3's (Chen et al., 2017)."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recallseg.errors import RecallsegError
from recallseg.model.cpu.pointwise import PointwiseConv
from recallseg.model.decoder import Decoder, GrowingConv
from recallseg.model.tail import Tail

WIDTH = 256
SLOPE = 0.01
"""Of the leaky ReLU after each BatchNorm: MiB's in-place activated BatchNorm has it, where
DeepLab-V3 has a plain ReLU."""


class NormedConv(nn.Module):
    """A convolution without bias that keeps the size of its input, BatchNorm and a leaky ReLU."""

    def __init__(self, channels: int, width: int, side: int = 1, dilation: int = 1) -> None:
        super().__init__()
        kind = nn.Conv2d if side > 1 else PointwiseConv
        padding = side // 2 * dilation
        self.conv = kind(channels, width, side, padding=padding, dilation=dilation, bias=False)
        self.norm = nn.BatchNorm2d(width)
        nn.init.xavier_normal_(self.conv.weight, nn.init.calculate_gain("leaky_relu", SLOPE))

    def forward(self, features: Tensor) -> Tensor:
        """(B,width,h,w) of (B,C,h,w)."""
        return F.leaky_relu(self.norm(self.conv(features)), SLOPE)


class DeepLabV3(Decoder):
    """Atrous spatial pyramid pooling, and a 1×1 classifier on what it sees (DeepLab-V3, sec. 3.3).

    A 1×1 convolution, 3×3 convolutions with different dilations and the mean over the whole map
    stand side by side, 256 channels each, and a 1×1 convolution brings them to 256; every one of
    them is followed by BatchNorm, which learns whenever the decoder does. Only the classifier
    grows.
    """

    rates: ClassVar = (6, 12, 18)
    rates_at: ClassVar = 16

    def __init__(
        self,
        channels: int,
        classes: int,
        *,
        dilations: tuple[int, ...],
        neck: int | None = None,
        tail: Tail | None = None,
        init_std: float = 0.01,
    ) -> None:
        super().__init__(channels, neck, init_std, tail)
        pyramid = [NormedConv(self.width, WIDTH)]
        pyramid += [NormedConv(self.width, WIDTH, side=3, dilation=each) for each in dilations]
        self.pyramid = nn.ModuleList(pyramid)
        self.pooled = NormedConv(self.width, WIDTH)
        self.projection = NormedConv((len(pyramid) + 1) * WIDTH, WIDTH)
        self.classifier = GrowingConv(WIDTH, classes, side=1)
        self._start_classifiers()

    def forward(self, features: Tensor) -> Tensor:
        """Logits (B,classes,h,w) of features (B,C,h,w)."""
        if self.training and len(features) == 1:
            raise RecallsegError(
                "The decoder deeplab_v3 cannot be trained on batches of one photo, of whose mean "
                "BatchNorm would leave nothing; let optim.batch, increment.batch and "
                "helper.optim.batch be at least 2 for each device."
            )
        narrow = self.narrowed(features)
        maps = [branch(narrow) for branch in self.pyramid]
        mean = self.pooled(narrow.mean(dim=(2, 3), keepdim=True))
        maps.append(mean.expand(-1, -1, narrow.shape[2], narrow.shape[3]))
        logits: Tensor = self.classifier(self.projection(torch.cat(maps, dim=1)))
        return logits

    def classifiers(self) -> list[GrowingConv]:
        """The one classifier."""
        return [self.classifier]
