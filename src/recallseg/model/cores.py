"""Work for PyTorch on threads that keep to one core each and do not fight over all of them.

Small networks leave much of a core idle when their layers are split among several, and a batch that
is made ready with all cores takes them from the training that it is made for.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import torch

from recallseg.progress import prefetch

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_advance(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map(function, items)` in order, made ready by other threads, each on a core of its own.

    The caller's thread goes on with as many cores as it had.
    """
    threads = torch.get_num_threads()

    def alone() -> None:
        torch.set_num_threads(1)

    try:
        yield from prefetch(function, items, start=alone)
    finally:
        torch.set_num_threads(threads)


def on_every_core(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`in_advance` for a network that looks at many photos: without gradients."""
    return in_advance(torch.no_grad()(function), items)
