"""Standing statistics: what a generator normalises with when it is not trained on batches."""

from collections.abc import Iterable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from recallseg.gan.biggan import BigGAN, TruncationNorm
from recallseg.gan.generator import truncated_noise

STREAM = 3
"""Part of the random seed, so that this noise differs from that of training and samples."""


@torch.no_grad()
def standing_statistics(
    generator: BigGAN,
    *,
    batch: int,
    batches: int = 16,
    seed: int = 0,
    rows: Iterable[int] | None = None,
) -> None:
    """Estimate the stored statistics of each truncation from many batches (Brock et al., 2019).

    `rows` are the truncations to do, by default all. The generator is left in eval mode.
    """
    norms = [module for module in generator.modules() if isinstance(module, TruncationNorm)]
    statistics: dict[int, dict[nn.Module, list[tuple[Tensor, Tensor]]]] = {}
    generator.train()
    for row in range(generator.config.n_stats) if rows is None else rows:
        statistics[row] = {norm: [] for norm in norms}
        hooks = [norm.register_forward_pre_hook(partial(_watch, statistics[row])) for norm in norms]
        for number in range(batches):
            _forward(generator, batch, row, (STREAM, seed, row, number))
        for hook in hooks:
            hook.remove()
    for row, parts in statistics.items():
        for norm in norms:
            _store(norm, row, parts[norm])
    generator.eval()


def _watch(
    parts: dict[nn.Module, list[tuple[Tensor, Tensor]]], norm: nn.Module, inputs: tuple[Tensor, ...]
) -> None:
    var, mean = torch.var_mean(inputs[0], dim=(0, 2, 3), correction=0)
    parts[norm].append((mean, var))


def _forward(generator: BigGAN, batch: int, row: int, seed: tuple[int, ...]) -> None:
    config = generator.config
    truncation = row / max(1, config.n_stats - 1)
    device = generator.embeddings.weight.device
    classes = np.random.default_rng(seed).integers(config.num_classes, size=batch)
    noise = truncated_noise(batch, config.z_dim, truncation, seed)
    generator(noise.to(device), torch.from_numpy(classes).to(device))


def _store(norm: TruncationNorm, row: int, parts: list[tuple[Tensor, Tensor]]) -> None:
    """The mean and variance of all batches together: variance within them and between them."""
    means, variances = (torch.stack(values) for values in zip(*parts, strict=True))
    norm.running_means[row] = means.mean(0)
    norm.running_vars[row] = variances.mean(0) + means.var(0, correction=0)
