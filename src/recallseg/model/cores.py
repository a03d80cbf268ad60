"""Work for PyTorch on threads that keep to one core each and do not fight over all of them.

Small networks leave much of a core idle when their layers are split among several, and a batch that
is made ready with all cores takes them from the training that it is made for.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
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
    try:
        yield from prefetch(function, items, start=keep_to_one_core)
    finally:
        torch.set_num_threads(threads)


def in_turns(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`in_advance` for a caller that computes on the same cores.

    One result for each core is made ready while the caller waits, and nothing while it works: a
    thread that takes one of the cores from a layer that is split among all holds up the others.
    """
    threads, items = torch.get_num_threads(), iter(items)
    with ThreadPoolExecutor(max_workers=threads, initializer=keep_to_one_core) as pool:
        try:
            while some := list(islice(items, threads)):
                yield from list(pool.map(function, some))
        finally:
            torch.set_num_threads(threads)


def keep_to_one_core() -> None:
    """Let this thread's work in PyTorch have one core, whatever others have."""
    torch.set_num_threads(1)


def on_every_core(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`in_advance` for a network that looks at many photos: without gradients."""
    return in_advance(torch.no_grad()(function), items)
