"""A BigGAN that can be trained, and the plain one that training ends with."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from recallseg.replay.biggan import BigGAN
from recallseg.replay.biggan_config import BigGANConfig
from recallseg.replay.generator import fold_spectral_norm
from recallseg.replay.training.spectral import add_spectral_norm, public_name


def trainable_generator(config: BigGANConfig) -> BigGAN:
    """A new generator under spectral norm, with orthogonal weights (Brock et al., 2019).

    The class embedding is not normalised and starts as large as the noise, so that classes differ
    from the first iteration on. Outputs that are not colours start, and stay, at zero.
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
    return add_spectral_norm(generator, besides=[generator.embeddings]).train()


@torch.no_grad()
def finished(trained: BigGAN, values: Sequence[Tensor]) -> BigGAN:
    """A plain generator with `values` for the parameters of the trained one, and the norm folded.

    Its normalisation statistics are those of the last batches: `standing_statistics` finds better.
    """
    names = [name for name, _ in trained.named_parameters()]
    averaged = trained.state_dict() | dict(zip(names, values, strict=True))
    state = {public_name(name): tensor for name, tensor in averaged.items()}
    plain = BigGAN(trained.config).to(values[0].device)
    plain.load_state_dict(fold_spectral_norm(state, Path("in training")))
    return plain.eval().requires_grad_(False)
