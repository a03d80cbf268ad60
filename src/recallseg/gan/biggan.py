"""BigGAN-deep's generator (Brock et al., ICLR 2019), the GAN G that the paper replays from.

Its tensors have the names of the public PyTorch weights, with spectral normalisation already
folded into the weights: `generator.load_generator` folds it while loading.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recallseg.errors import RecallsegError
from recallseg.gan.biggan_config import BigGANConfig


class TruncationNorm(nn.Module):
    """Batch normalisation with statistics stored for several truncations of the noise.

    In training mode it uses the batch's own and leaves those alone: `standing_statistics` finds
    them when training is over.
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
        if self.training:
            x = F.batch_norm(x, None, None, training=True, eps=self.eps)
        else:
            mean, var = self.statistics(truncation)
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
    """From a condition (B,D) to images: a small map that blocks refine and enlarge."""

    def __init__(self, config: BigGANConfig) -> None:
        super().__init__()
        width = config.channel_width
        condition = config.z_dim + config.class_embed_dim
        self.side = config.first_side
        self.gen_z = nn.Linear(condition, self.side**2 * config.layers[0][1] * width)
        self.layers = nn.ModuleList()
        for position, (up, before, after) in enumerate(config.layers):
            if position == config.attention_layer_position:
                self.layers.append(Attention(width * before))
            self.layers.append(Block(up, width * before, width * after, config))
        self.bn = PlainNorm(width, config)
        self.conv_to_rgb = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, condition: Tensor, truncation: float) -> Tensor:
        """Images (B,3,H,W) in [-1,1]; of the last convolution's outputs only three are used."""
        first: Tensor = self.gen_z(condition).view(len(condition), self.side, self.side, -1)
        x = first.permute(0, 3, 1, 2)
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
