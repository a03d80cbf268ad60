"""BigGAN-deep's generator (Brock et al., ICLR 2019), the GAN G that the paper replays from.

Its tensors have the names of the public PyTorch weights, with spectral normalisation already
folded into the weights: `generator.load_generator` folds it while loading.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recallseg.errors import RecallsegError, unknown_name

FIRST_SIDE, FIRST_WIDTH = 4, 16
MOMENTUM = 0.1

Layer = tuple[bool, int, int]
"""Whether a block doubles the resolution; its input and output channels in `channel_width`s."""

WIDTHS = {
    32: (16, 8, 4, 1),
    64: (16, 8, 4, 2, 1),
    128: (16, 16, 8, 4, 2, 1),
    256: (16, 16, 8, 8, 4, 2, 1),
    512: (16, 16, 8, 8, 4, 2, 1, 1),
}
"""Channels, in `channel_width`s, at 4×4 and after each doubling of the resolution.

32 px is ours alone: the public package halves channels at most.
"""


def deep_layers(widths: tuple[int, ...]) -> tuple[Layer, ...]:
    """BigGAN-deep's pattern: before each doubling of the resolution, one block that keeps it."""
    return sum((((False, here, here), (True, here, then)) for here, then in pairwise(widths)), ())


@dataclass(frozen=True)
class BigGANConfig:
    """A generator's architecture, field by field as in the public JSON files (here the 128's)."""

    output_dim: int = 128
    z_dim: int = 128
    class_embed_dim: int = 128
    channel_width: int = 128
    num_classes: int = 1000
    layers: tuple[Layer, ...] = deep_layers(WIDTHS[128])
    attention_layer_position: int = 8
    """The block before which attention stands; -1 for no attention."""
    eps: float = 1e-4
    n_stats: int = 51
    """Truncations, evenly spaced from 0 to 1, for which normalisation statistics are stored."""

    def __post_init__(self) -> None:
        """Refuse layers that do not fit together."""
        inputs, outputs = ([layer[side] for layer in self.layers] for side in (1, 2))
        if [FIRST_WIDTH, *outputs] != [*inputs, 1]:
            raise RecallsegError(
                f"A generator's layers start at {FIRST_WIDTH} widths, end at 1 and each takes what "
                f"the one before gives, but the inputs are {inputs} and the outputs {outputs}."
            )
        side = FIRST_SIDE * 2 ** sum(layer[0] for layer in self.layers)
        if side != self.output_dim or self.channel_width < 4:
            raise RecallsegError(
                f"The generator's layers make images of {side} px and its channel width is "
                f"{self.channel_width}; expected {self.output_dim} px and at least 4."
            )

    @classmethod
    def at(
        cls,
        resolution: int,
        *,
        channel_width: int = 128,
        num_classes: int = 1000,
        attention: int | None = None,
    ) -> "BigGANConfig":
        """BigGAN-deep for square images of `resolution` px, as public for 128, 256 and 512.

        `attention` is the resolution that attention works at (0: none; by default 64 px, or half
        of the output's). With fewer channels and classes it is small enough to train oneself.
        """
        if resolution not in WIDTHS:
            raise unknown_name("generator resolution", str(resolution), map(str, WIDTHS))
        layers = deep_layers(WIDTHS[resolution])
        places = {0: -1} | {FIRST_SIDE << at // 2: at for at in range(0, len(layers), 2)}
        side = min(64, resolution // 2) if attention is None else attention
        if side not in places:
            raise unknown_name("attention resolution", str(side), map(str, places))
        sizes = {"channel_width": channel_width, "num_classes": num_classes}
        return cls(resolution, layers=layers, attention_layer_position=places[side], **sizes)


class TruncationNorm(nn.Module):
    """Batch normalisation with statistics stored for several truncations of the noise.

    In training mode it uses the batch's own and moves all stored rows towards them.
    """

    running_means: Tensor
    running_vars: Tensor

    def __init__(self, channels: int, config: BigGANConfig) -> None:
        super().__init__()
        self.eps = config.eps
        self.register_buffer("running_means", torch.zeros(config.n_stats, channels))
        self.register_buffer("running_vars", torch.ones(config.n_stats, channels))

    def normalise(self, x: Tensor, truncation: float, gain: Tensor, offset: Tensor) -> Tensor:
        """`x` (B,C,H,W) normalised, then times `gain` plus `offset`, each (B,C) or (C,)."""
        mean, var = self._batch_statistics(x) if self.training else self.statistics(truncation)
        gain = gain * torch.rsqrt(var + self.eps)
        offset = offset - mean * gain
        return torch.addcmul(offset[..., None, None], x, gain[..., None, None])

    def statistics(self, truncation: float) -> tuple[Tensor, Tensor]:
        """Mean and variance (C,) at a truncation, interpolated between the two stored nearest."""
        last = len(self.running_means) - 1
        share, whole = math.modf(truncation * last)
        low, high = int(whole), min(int(whole) + 1, last)
        means, variances = self.running_means, self.running_vars
        return means[low].lerp(means[high], share), variances[low].lerp(variances[high], share)

    def _batch_statistics(self, x: Tensor) -> tuple[Tensor, Tensor]:
        var, mean = torch.var_mean(x, dim=(0, 2, 3), correction=0)
        self.running_means.lerp_(mean.detach(), MOMENTUM)
        self.running_vars.lerp_(var.detach(), MOMENTUM)
        return mean, var


class ConditionalNorm(TruncationNorm):
    """Normalisation whose gain and offset are linear in the condition (B,D): noise and class."""

    def __init__(self, channels: int, config: BigGANConfig) -> None:
        super().__init__(channels, config)
        condition = config.z_dim + config.class_embed_dim
        self.scale = nn.Linear(condition, channels, bias=False)
        self.offset = nn.Linear(condition, channels, bias=False)

    def forward(self, x: Tensor, condition: Tensor, truncation: float) -> Tensor:
        """Normalise x (B,C,H,W)."""
        return self.normalise(x, truncation, 1 + self.scale(condition), self.offset(condition))


class PlainNorm(TruncationNorm):
    """Normalisation with one gain and offset for all classes."""

    def __init__(self, channels: int, config: BigGANConfig) -> None:
        super().__init__(channels, config)
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor, truncation: float) -> Tensor:
        """Normalise x (B,C,H,W)."""
        return self.normalise(x, truncation, self.weight, self.bias)


class Block(nn.Module):
    """Four convolutions, the inner ones narrow, beside a shortcut that drops surplus channels."""

    def __init__(self, up: bool, before: int, after: int, config: BigGANConfig) -> None:
        super().__init__()
        self.up, self.after = up, after
        inner = before // 4
        self.bn_0 = ConditionalNorm(before, config)
        self.conv_0 = nn.Conv2d(before, inner, 1)
        self.bn_1 = ConditionalNorm(inner, config)
        self.conv_1 = nn.Conv2d(inner, inner, 3, padding=1)
        self.bn_2 = ConditionalNorm(inner, config)
        self.conv_2 = nn.Conv2d(inner, inner, 3, padding=1)
        self.bn_3 = ConditionalNorm(inner, config)
        self.conv_3 = nn.Conv2d(inner, after, 1)

    def forward(self, x: Tensor, condition: Tensor, truncation: float) -> Tensor:
        """From x (B,before,H,W) to (B,after,H,W), or twice as high and wide."""
        inner: Tensor = self.conv_0(F.relu(self.bn_0(x, condition, truncation)))
        inner = self.conv_1(self._resized(F.relu(self.bn_1(inner, condition, truncation))))
        inner = self.conv_2(F.relu(self.bn_2(inner, condition, truncation)))
        inner = self.conv_3(F.relu(self.bn_3(inner, condition, truncation)))
        return self._resized(x[:, : self.after]) + inner

    def _resized(self, x: Tensor) -> Tensor:
        return F.interpolate(x, scale_factor=2, mode="nearest") if self.up else x


class Attention(nn.Module):
    """Self-attention between all places of a map, keys and values pooled to a quarter (SAGAN)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.snconv1x1_theta = nn.Conv2d(channels, channels // 8, 1, bias=False)
        self.snconv1x1_phi = nn.Conv2d(channels, channels // 8, 1, bias=False)
        self.snconv1x1_g = nn.Conv2d(channels, channels // 2, 1, bias=False)
        self.snconv1x1_o_conv = nn.Conv2d(channels // 2, channels, 1, bias=False)
        self.gamma = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        """From x (B,C,H,W) to the same shape."""
        query = self.snconv1x1_theta(x)
        key, value = (F.max_pool2d(conv(x), 2) for conv in (self.snconv1x1_phi, self.snconv1x1_g))
        query, key, value = (part.flatten(2).mT for part in (query, key, value))
        seen = F.scaled_dot_product_attention(query, key, value, scale=1.0).mT
        mixed: Tensor = self.snconv1x1_o_conv(seen.reshape(len(x), -1, *x.shape[2:]))
        return x + self.gamma * mixed


class Generator(nn.Module):
    """From a condition (B,D) to images: a 4×4 map that blocks refine and enlarge."""

    def __init__(self, config: BigGANConfig) -> None:
        super().__init__()
        width = config.channel_width
        condition = config.z_dim + config.class_embed_dim
        self.gen_z = nn.Linear(condition, FIRST_SIDE**2 * FIRST_WIDTH * width)
        self.layers = nn.ModuleList()
        for position, (up, before, after) in enumerate(config.layers):
            if position == config.attention_layer_position:
                self.layers.append(Attention(width * before))
            self.layers.append(Block(up, width * before, width * after, config))
        self.bn = PlainNorm(width, config)
        self.conv_to_rgb = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, condition: Tensor, truncation: float) -> Tensor:
        """Images (B,3,H,W) in [-1,1]; of the last convolution's outputs only three are used."""
        first: Tensor = self.gen_z(condition).view(len(condition), FIRST_SIDE, FIRST_SIDE, -1)
        x = first.permute(0, 3, 1, 2).contiguous()
        for layer in self.layers:
            x = layer(x, condition, truncation) if isinstance(layer, Block) else layer(x)
        x = F.relu(self.bn(x, truncation))
        weight, bias = self.conv_to_rgb.weight, self.conv_to_rgb.bias
        return torch.tanh(F.conv2d(x, weight[:3], None if bias is None else bias[:3], padding=1))


class BigGAN(nn.Module):
    """The generator with its class embedding: noise and a class to an image."""

    def __init__(self, config: BigGANConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = nn.Linear(config.num_classes, config.class_embed_dim, bias=False)
        self.generator = Generator(config)

    def forward(self, noise: Tensor, classes: Tensor, truncation: float = 1.0) -> Tensor:
        """Images (B,3,H,W) in [-1,1] of noise (B,z_dim) and class ids (B,) or one-hot floats."""
        if not 0 < truncation <= 1:
            raise RecallsegError(f"A truncation is above 0 and at most 1, not {truncation}.")
        weight = self.embeddings.weight
        embedded = F.linear(classes, weight) if classes.ndim == 2 else weight.T[classes]
        images: Tensor = self.generator(torch.cat([noise, embedded], dim=1), truncation)
        return images
