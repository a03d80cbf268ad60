"""A new BigGAN to train, and the one that training ends with."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig


def trainable_generator(config: BigGANConfig) -> BigGAN:
    """A new generator with orthogonal weights (Brock et al., 2019), without spectral norm.

    The class embedding starts as large as the noise, so that classes differ from the first
    iteration on. Outputs that are not colours start, and stay, at zero.
    """
    generator = BigGAN(config)
    for module in generator.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            nn.init.orthogonal_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    nn.init.normal_(generator.embeddings.weight)
    with torch.no_grad():
        generator.generator.conv_to_rgb.weight[3:] = 0
    generator.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return generator.train()


@torch.no_grad()
def finished(trained: BigGAN, values: Sequence[Tensor]) -> BigGAN:
    """A generator with `values` for the parameters of the trained one.

    It has no normalisation statistics yet: `standing_statistics` computes them.
    """
    generator = BigGAN(trained.config).to(values[0].device)
    for parameter, value in zip(generator.parameters(), values, strict=True):
        parameter.copy_(value)
    return generator.eval().requires_grad_(False)
