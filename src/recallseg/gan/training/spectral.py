"""Spectral normalisation (Miyato et al., ICLR 2018): weights with a largest singular value of 1."""

from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

LAYERS = (nn.Conv2d, nn.Linear, nn.Embedding)


def add_spectral_norm(network: nn.Module) -> None:
    """Normalise the weight of every convolution, linear layer and embedding."""
    for module in [*network.modules()]:
        if isinstance(module, LAYERS):
            spectral_norm(module)
