"""What all parts of a run share: devices, the reporter and where to save an unfinished training."""

import recallseg.torchvision_guard  # noqa: F401

import json
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric

from recallseg.allocator import keep_large_blocks
from recallseg.checksums import check
from recallseg.config import RunConfig
from recallseg.engine.session.processes import Processes, check_launched
from recallseg.engine.session.tracking import open_trackers
from recallseg.files import atomic_path, write_json
from recallseg.leases import in_turn, lease_beside
from recallseg.reporter import Reporter
from recallseg.runs.folder import RunFolder

CLOCK = "clock.json"


@dataclass
class Session:
    """A run in progress, in one of its processes."""

    config: RunConfig
    fabric: Any
    reporter: Reporter
    state: Path
    """The folder for what only an unfinished run needs."""
    earlier: float = 0.0
    """Seconds that earlier attempts at the same run took."""
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, config: RunConfig, folder: RunFolder | None = None) -> "Session":
        """Start the processes and devices that the configuration asks for.

        Without a folder nothing is kept: no journal and no state.
        """
        keep_large_blocks()
        check_launched(config)
        fabric = Fabric(
            accelerator=config.accelerator,
            devices=config.devices,
            num_nodes=config.nodes or 1,
            strategy="ddp" if config.processes > 1 else "auto",
            precision=config.precision,
        )
        fabric.launch()
        torch.manual_seed(config.seed)
        if folder is None:
            return cls(config, fabric, Reporter(), Path())
        if config.nodes:
            Processes(fabric).check_shared(folder.path)
        main = fabric.is_global_zero
        fabric.loggers.extend(open_trackers(config, folder.path) if main else ())
        reporter = Reporter(folder.journal, fabric.log_dict) if main else Silent()
        return cls(config, fabric, reporter, folder.state, _seconds(folder.state / CLOCK))

    @cached_property
    def processes(self) -> Processes:
        """This process and those that share its work."""
        return Processes(self.fabric, self.config.nodes or 1)

    def end(self) -> None:
        """Let trackers write what they still hold: the run came to its end."""
        for logger in self.fabric.loggers:
            logger.finalize("success")

    def turn(self, path: Path, waiting: str) -> AbstractContextManager[None]:
        """Wait while another process makes something in the cache, and let others wait for this."""
        return in_turn(lease_beside(path), waiting, self.reporter.say)

    def clock(self) -> float:
        """Seconds of work on this run so far, earlier attempts included."""
        return self.earlier + time.monotonic() - self.started

    def tick(self) -> None:
        """Remember the clock, so that an interruption does not turn it back."""
        if self.fabric.is_global_zero:
            write_json(self.state / CLOCK, {"seconds": self.clock()})

    def save(self, name: str, values: dict[str, Any]) -> None:
        """Keep the state of an unfinished training, from the first process."""
        if self.fabric.is_global_zero:
            with atomic_path(self.state / name) as path:
                torch.save(values, path)
            self.tick()

    def load(self, name: str) -> dict[str, Any] | None:
        """The state that was kept under `name`, if there is one that can be read."""
        path = self.state / name
        if not path.is_file():
            return None
        try:
            values = torch.load(check(path), map_location="cpu", weights_only=True)
        except Exception:  # torch raises a dozen kinds for a broken file
            self.reporter.say(f"{path} is damaged; this training starts again")
            return None
        return values if isinstance(values, dict) else None

    def discard(self, name: str) -> None:
        """Forget a state that is no longer needed."""
        if self.fabric.is_global_zero:
            (self.state / name).unlink(missing_ok=True)


def _seconds(clock: Path) -> float:
    """What an earlier attempt noted; one that cannot be read counts for nothing."""
    try:
        return float(json.loads(clock.read_text())["seconds"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0.0


class Silent(Reporter):
    """The reporter of all processes but the first."""

    def __init__(self) -> None:
        super().__init__(None)
        self.console.quiet = True
