"""Spectral normalisation (Miyato et al., ICLR 2018): weights with a largest singular value of 1."""

from collections.abc import Iterable
from typing import TypeVar

from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

PUBLIC_NAMES = {
    "parametrizations.weight.original": "weight_orig",
    "parametrizations.weight.0._u": "weight_u",
    "parametrizations.weight.0._v": "weight_v",
}
"""What torch calls a weight and its singular vectors, and what public files call them."""

LAYERS = (nn.Conv2d, nn.Linear, nn.Embedding)

Network = TypeVar("Network", bound=nn.Module)


def add_spectral_norm(network: Network, besides: Iterable[nn.Module] = ()) -> Network:
    """Normalise the weight of every convolution, linear layer and embedding, besides some."""
    spared = {id(module) for module in besides}
    for module in [*network.modules()]:
        if isinstance(module, LAYERS) and id(module) not in spared:
            spectral_norm(module)
    return network


def public_name(name: str) -> str:
    """The name of a tensor of a normalised network in the layout of public files."""
    for ours, theirs in PUBLIC_NAMES.items():
        name = name.replace(ours, theirs)
    return name
