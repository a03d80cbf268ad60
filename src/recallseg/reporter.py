"""Progress on the terminal during a run, and the journal that remains."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from recallseg import progress
from recallseg.files import readable_disk_errors, write_text
from recallseg.progress import ProgressReport, messages, tell


class Reporter:
    """Bars on a terminal, plain lines elsewhere; `metrics.jsonl` in the run folder."""

    def __init__(
        self,
        journal: Path | None = None,
        log: Callable[[dict[str, float], int], None] = lambda values, at: None,
    ) -> None:
        self.journal, self.log = journal, log
        self.console = messages()
        self.miou = ""

    def say(self, sentence: str) -> None:
        """Print a sentence on the terminal."""
        self.console.print(sentence, highlight=False, markup=False, soft_wrap=True)

    def forget_after(self, phase: str, iteration: int) -> None:
        """Drop journal lines of `phase` from `iteration` on, which a resumed run writes again."""
        if self.journal and self.journal.is_file():
            lines = self.journal.read_text(encoding="utf-8", errors="replace").splitlines()
            remaining = [line for line in lines if not _is_after(line, phase, iteration)]
            write_text(self.journal, "".join(f"{line}\n" for line in remaining))

    def note(self, **values: Any) -> None:  # noqa: ANN401
        """Add a line to the journal."""
        if self.journal:
            with (
                readable_disk_errors(self.journal),
                self.journal.open("a", encoding="utf-8") as file,
            ):
                file.write(json.dumps(values) + "\n")
        if "iteration" in values:
            curves = {name: value for name, value in values.items() if isinstance(value, float)}
            phase = values["phase"]
            self.log(
                {f"{phase}/{name}": value for name, value in curves.items()}, values["iteration"]
            )

    def scores(self, step: int, means: Mapping[str, float | None]) -> None:
        """Show the mIoU after a step from now on, and tell it to trackers."""
        self.miou = str(means["all"])
        known = {f"mIoU/{name}": mean for name, mean in means.items() if mean is not None}
        self.log(known, step)

    @contextlib.contextmanager
    def phase(self, name: str, total: int, done: int = 0) -> Iterator["Phase"]:
        """Show the progress of work in `total` parts, of which `done` are done already."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}"),
            TimeRemainingColumn(),
        )
        hidden = not self.console.is_terminal
        with Progress(*columns, console=self.console, transient=True, disable=hidden) as bar:
            phase = Phase(self, bar, name, total, done)
            yield phase
        phase.finish()


class Phase:
    """The progress of one training, encoding or evaluation."""

    def __init__(self, reporter: Reporter, bar: Progress, name: str, total: int, done: int) -> None:
        self.reporter, self.bar, self.name, self.total, self.done = reporter, bar, name, total, done
        self.task = bar.add_task(name, total=total, completed=done, text="")
        self.started = self.spoken = time.monotonic()
        self.first, self.text = done, ""

    def advance(
        self, amount: int = 1, text: str = "", per_second: tuple[float, str] | None = None
    ) -> None:
        """Count parts as done; `per_second` is the amount and unit of one part, to show speed."""
        self.done += amount
        now = time.monotonic()
        if per_second and now > self.started:
            size, unit = per_second
            text += f"  {(self.done - self.first) * size / (now - self.started):.0f} {unit}/s"
        self.text = text
        miou = self.reporter.miou and f"  last mIoU {self.reporter.miou}"
        self.bar.update(self.task, completed=self.done, text=text + miou)
        tell(ProgressReport(self.name, self.done, self.total, text.strip()))
        lines_apart = progress.SECONDS_BETWEEN_LINES
        if not self.reporter.console.is_terminal and now - self.spoken > lines_apart:
            self.spoken = now
            left = (now - self.started) / (self.done - self.first) * (self.total - self.done)
            self.reporter.say(f"{self.name}: {self.done}/{self.total}{text}  {left:.0f} s left")

    def finish(self) -> None:
        """Note in the journal how long it took, and print it if it was more than 2 seconds."""
        seconds = time.monotonic() - self.started
        self.reporter.note(phase=self.name, seconds=round(seconds, 3), parts=self.done - self.first)
        if seconds > 2:
            self.reporter.say(f"{self.name}: done in {seconds:.0f} s{self.text}")


def _is_after(line: str, phase: str, iteration: int) -> bool:
    try:
        entry = json.loads(line)
        return bool(entry.get("phase") == phase and entry.get("iteration", -1) >= iteration)
    except (ValueError, AttributeError, TypeError):
        return True
