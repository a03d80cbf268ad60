"""The order in which the runs of a table are done, and how far they are."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.live import Live
from rich.table import Table

from recallseg.config import RunConfig
from recallseg.engine.session.shared import first_step_key
from recallseg.experiments.places.place import Ended, Job, Place
from recallseg.experiments.worker import notice_file, read_notice
from recallseg.progress import messages

PAUSE = 0.5
"""Seconds between two looks at what runs."""


LATER = {"increment", "helper", "replay"}
"""Settings that are about later steps alone."""


def first_steps(configs: Iterable[RunConfig]) -> list[str]:
    """The key of each run's step 0, looked up once for runs that differ in later steps only."""
    keys: dict[str, str] = {}
    found = []
    for config in configs:
        beginning = config.model_dump_json(exclude=LATER)
        if beginning not in keys:
            keys[beginning] = first_step_key(config)
        found.append(keys[beginning])
    return found


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """Seed after seed, and each seed in the table's own order, so that a table stopped early has
    whole columns. The first run with a step 0 trains it, and the others with the same wait for it.
    """
    seeds = list(dict.fromkeys(job.config.seed for job in jobs))
    ordered = sorted(jobs, key=lambda job: seeds.index(job.config.seed))
    first: dict[str, Job] = {}
    for place, key in enumerate(first_steps(job.config for job in ordered)):
        trains = first.setdefault(key, ordered[place])
        if trains is not ordered[place]:
            ordered[place] = replace(ordered[place], after=trains.folder)
    return ordered


@dataclass
class Progress:
    """How far the runs of a table are."""

    total: int
    finished: int = 0
    running: list[Job] = field(default_factory=list)
    failed: dict[Path, str] = field(default_factory=dict)
    durations: list[float] = field(default_factory=list)
    """Seconds that runs took which ended."""
    began: dict[Path, float] = field(default_factory=dict)

    def seconds_left(self) -> float | None:
        """How long the rest takes if runs take as long as they did and as many go on at once."""
        notices = [notice for job in self.running if (notice := read_notice(job.folder))]
        lefts = [(notice, left) for notice in notices if (left := notice["left"]) is not None]
        known = [*self.durations, *(notice["seconds"] + left for notice, left in lefts)]
        if not known or not self.running:
            return None
        waiting = self.total - self.finished - len(self.failed) - len(self.running)
        unknown = len(self.running) - len(lefts)
        mean = sum(known) / len(known)
        work = sum(left for _, left in lefts) + (waiting + unknown) * mean
        return work / len(self.running)

    def table(self) -> Table:
        """What runs where, and how long it takes still."""
        left = self.seconds_left()
        rest = f", about {in_words(left)} left" if left is not None else ""
        table = Table("run", "where", "at", "done", "left")
        table.title = f"{self.finished} of {self.total} runs done{rest}"
        for job in self.running:
            notice = read_notice(job.folder)
            if notice is None:
                table.add_row(job.title, "–", "waiting", "", "")
                continue
            where = f"{notice['host']}, process {notice['pid']}"
            its_rest = "" if notice["left"] is None else in_words(notice["left"])
            table.add_row(job.title, where, notice["phase"], f"{notice['share']:.0%}", its_rest)
        return table


def in_words(seconds: float) -> str:
    """A length of time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def carry_out(
    jobs: Sequence[Job], place: Place, heard: Callable[[Ended], None], watched: bool
) -> dict[Path, str]:
    """Do all runs and tell of each that ended; what went wrong with those that failed.

    Whatever ends this, Ctrl-C too, stops the runs cleanly first. With `watched`, a terminal shows
    what runs where.
    """
    waiting, ended = list(jobs), set[Path]()
    progress = Progress(len(jobs))
    with ExitStack() as stack:
        stack.callback(place.close)
        live = None
        if watched and messages().is_terminal:
            live = stack.enter_context(Live(console=messages(), auto_refresh=False))
        while waiting or progress.running:
            for job in [each for each in waiting if each.is_ready(ended)]:
                if not place.has_room():
                    break
                waiting.remove(job)
                progress.running.append(job)
                progress.began[job.folder] = time.monotonic()
                if not live:
                    _say(f"{len(jobs) - len(waiting)} of {len(jobs)}: {job.title}")
                notice_file(job.folder).unlink(missing_ok=True)
                place.start(job)
            news = place.ended()
            for each in news:
                ended.add(each.job.folder)
                _note(progress, each)
                heard(each)
            if live:
                live.update(progress.table(), refresh=True)
            if not news:
                time.sleep(PAUSE)
    return progress.failed


def _note(progress: Progress, news: Ended) -> None:
    progress.running.remove(news.job)
    if news.error is None:
        progress.finished += 1
        progress.durations.append(time.monotonic() - progress.began[news.job.folder])
    else:
        progress.failed[news.job.folder] = news.error
        _say(f"{news.job.title} failed: {news.error}")


def _say(sentence: str) -> None:
    messages().print(sentence, highlight=False, markup=False, soft_wrap=True)
