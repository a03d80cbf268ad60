"""Sums over the whole of a batch, also where several processes have a share of it each.

Gradients are averaged over processes afterwards. So a mean over pixels divides what a process has
by the mean number of pixels that processes have, and a sum over all of them carries gradients back
to each. Whoever trains in several processes says how they reach each other; alone, nothing changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor


class Alone:
    """The one process that there is."""

    count = 1

    def total(self, values: Tensor) -> Tensor:
        """The sum over processes, through which gradients flow."""
        return values

    def largest(self, values: Tensor) -> Tensor:
        """The largest over processes, through which gradients flow."""
        return values


ALONE = Alone()
_processes: ContextVar[Alone] = ContextVar("processes", default=ALONE)


@contextmanager
def sharing_batches(processes: Alone) -> Iterator[None]:
    """Let losses reach the other processes that have a share of each batch."""
    token = _processes.set(processes)
    try:
        yield
    finally:
        _processes.reset(token)


def total(values: Tensor) -> Tensor:
    """The sum over all processes."""
    return _processes.get().total(values)


def largest(values: Tensor) -> Tensor:
    """The largest over all processes."""
    return _processes.get().largest(values)


def each_counts(number: Tensor | int) -> Tensor:
    """How many a process has on average, at least one among all of them."""
    processes = _processes.get()
    return processes.total(torch.as_tensor(number)).clamp(min=1) / processes.count
