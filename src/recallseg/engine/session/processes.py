"""The processes of a run, on one machine or several, and what they tell each other."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed
from torch.distributed.nn import functional as flowing

from recallseg.config import RunConfig
from recallseg.errors import RecallsegError
from recallseg.files import cache_root
from recallseg.losses.together import ALONE, Alone, sharing_batches

Value = TypeVar("Value")
LAUNCHED = {"TORCHELASTIC_RUN_ID": "WORLD_SIZE", "SLURM_STEP_NUM_TASKS": "SLURM_STEP_NUM_TASKS"}
"""By a variable that tells who started this process: the one with the number of its like."""


def check_launched(config: RunConfig) -> None:
    """Refuse to be one of several processes that know nothing of each other."""
    for launcher, number in LAUNCHED.items():
        if launcher in os.environ:
            launched = int(os.environ[number])
            if launched > 1 and launched != config.processes:
                raise RecallsegError(
                    f"{launched} processes were started, but the settings ask for "
                    f"{config.processes}: set devices to those on each machine, and nodes to the "
                    "number of machines."
                )
            return


class Processes:
    """All processes of a run, seen from one of them."""

    def __init__(self, fabric: Any, nodes: int = 1) -> None:  # noqa: ANN401
        self.fabric, self.nodes = fabric, nodes
        self.count: int = fabric.world_size
        self.is_first: bool = fabric.is_global_zero

    def from_first(self, work: Callable[[], Value]) -> Value:
        """What the first process gets when it does some work, for all of them."""
        value: Value = self.fabric.broadcast(work() if self.is_first else None)
        return value

    def mean(self, value: float) -> float:
        """The mean over all processes."""
        if self.count == 1:
            return value
        return float(self.fabric.all_reduce(torch.tensor(value), reduce_op="mean"))

    @contextmanager
    def sharing_batches(self) -> Iterator[None]:
        """Let losses be those of whole batches, of which each process has a share."""
        with sharing_batches(Together(self.count) if self.count > 1 else ALONE):
            yield

    def check_shared(self, folder: Path) -> None:
        """Refuse to go on where machines do not see the same cache, or the same run folder."""
        for place, what in ((cache_root(), "$RECALLSEG_CACHE"), (folder, "--out")):
            token = place / f".{self.from_first(lambda: uuid.uuid4().hex)}"
            if self.is_first:
                place.mkdir(parents=True, exist_ok=True)
                token.touch()
            self.fabric.barrier()
            missing = self.mean(float(not token.exists()))
            if self.is_first:
                token.unlink()
            if missing:
                raise RecallsegError(
                    f"Not all machines see the same {place}: put {what} on storage that they share."
                    " Features may be stored on each machine's own disk, $RECALLSEG_BANK."
                )

    @cached_property
    def here(self) -> "Machine":
        """The processes of this machine; all processes ask for them at once."""
        each = self.count // self.nodes
        groups = [
            distributed.new_group(list(range(first, first + each)), backend="gloo")
            for first in range(0, self.count, each)
            if self.count > 1
        ]
        node, place = divmod(self.fabric.global_rank, each)
        return Machine(place, each, groups[node] if groups else None, node * each)


class Machine:
    """The processes of a run on one machine, seen from one of them."""

    def __init__(self, place: int, count: int, group: Any = None, first: int = 0) -> None:  # noqa: ANN401
        self.place, self.count, self._group, self._first = place, count, group, first

    @property
    def leads(self) -> bool:
        """Whether this is the first of them."""
        return self.place == 0

    def from_first(self, value: Value) -> Value:
        """What the first of them has, for all."""
        if self._group is None:
            return value
        values = [value]
        distributed.broadcast_object_list(values, self._first, self._group)
        return values[0]

    def wait(self) -> None:
        """Wait until all of them have come here."""
        if self._group is not None:
            distributed.barrier(self._group)


class Together(Alone):
    """Losses of batches that are shared by several processes."""

    def __init__(self, count: int) -> None:
        self.count = count

    def total(self, values: Tensor) -> Tensor:
        """The sum over processes, through which gradients flow."""
        if values.requires_grad:
            return flowing.all_reduce(values)  # type: ignore[no-untyped-call,no-any-return]
        values = values.clone()
        distributed.all_reduce(values)
        return values

    def largest(self, values: Tensor) -> Tensor:
        """The largest over processes, through which gradients flow."""
        return torch.stack(flowing.all_gather(values)).amax(dim=0)  # type: ignore[no-untyped-call]
