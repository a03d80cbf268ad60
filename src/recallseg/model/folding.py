"""BatchNorm made part of the convolution before it, for a network that does not learn any more."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_weights


@torch.no_grad()
def fold_batch_norm(network: nn.Module, look: Callable[[], object]) -> None:
    """Change a network in place; it answers as before, up to rounding.

    `look` lets it see something, and a BatchNorm is folded if its input was a convolution's output.
    """
    names = {module: name for name, module in network.named_modules()}
    for norm, convolution in _pairs(network, look).items():
        mean, variance = norm.running_mean, norm.running_var
        if mean is None or variance is None:
            continue
        learned = (norm.eps, norm.weight, norm.bias)
        convolution.weight, convolution.bias = fuse_conv_bn_weights(
            convolution.weight, convolution.bias, mean, variance, *learned
        )
        parent, _, name = names[norm].rpartition(".")
        after = getattr(norm, "act", None) or nn.Identity()
        setattr(network.get_submodule(parent), name, after)


def _pairs(network: nn.Module, look: Callable[[], object]) -> dict[nn.BatchNorm2d, nn.Conv2d]:
    """Every BatchNorm that sees what a convolution has just given."""
    given: dict[int, tuple[nn.Conv2d, Tensor]] = {}
    pairs: dict[nn.BatchNorm2d, nn.Conv2d] = {}

    def remember(module: nn.Conv2d, _: Any, output: Tensor) -> None:  # noqa: ANN401
        given[id(output)] = (module, output)

    def ask(module: nn.BatchNorm2d, inputs: tuple[Tensor, ...]) -> None:
        if id(inputs[0]) in given:
            pairs[module] = given[id(inputs[0])][0]

    with ExitStack() as hooks:
        for module in network.modules():
            if isinstance(module, nn.Conv2d):
                hooks.enter_context(module.register_forward_hook(remember))
            elif isinstance(module, nn.BatchNorm2d):
                hooks.enter_context(module.register_forward_pre_hook(ask))
        look()
    return pairs
