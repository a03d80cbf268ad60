"""Whether a training has left the numbers that can be computed with."""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor


def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Whether no value is infinite or NaN; devices are waited for once, at the end."""
    finite = [torch.isfinite(tensor).all() for tensor in tensors]
    return all(bool(each) for each in finite)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> Iterator[Tensor]:
    """What an optimiser remembers of each weight, such as momentum."""
    for slots in optimizer.state_dict()["state"].values():
        yield from (value for value in slots.values() if isinstance(value, Tensor))
