"""Damage run folders, caches and datasets by chance, and let every command read them.

    python tools/fuzz.py [--cases 500] [--seed 0] [--seconds 600] [--json FILE]

A command must end with exit code 0 and the answer of the sound model, or with one sentence and exit
code 2: never with a traceback, never without end, never with another answer. What is made on the
way lies in a temporary folder. Each case runs in a fork of one process, on the smallest of models.
`export` and `serve` open a run folder as `predict` does, and take too long for this.
"""

import argparse
import functools
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support"))

import preloaded  # noqa: F401
from children import Outcome
from damage import damage
from one_child import outcomes
from tiny_life import TinyLife, answer

SEALED, OLD, CACHE, DATA = "run folder", "older run folder", "cache", "dataset"
WEIGHTS = {SEALED: 5, OLD: 2, CACHE: 2, DATA: 2}
"""What is damaged how often; an older run folder has no checksums: it may answer differently."""
CHANGING = ("rollback", "learn")
"""Commands that change the model that they read."""
ANSWERS = ("predict", "predict step 0", "evaluate")
"""Commands whose answer is that of the sound model, or none."""

Commands = dict[str, list[Any]]


class Fuzzer:
    """The sound things, what commands say of them, and what they say of damaged copies."""

    def __init__(self, root: Path, seconds: float) -> None:
        self.root, self.seconds = root, seconds
        self.life = TinyLife(root / "life")
        self.sound_model = self.life.model()
        self.scratch = root / "scratch"
        self.model = self.scratch / "model"
        self.counts: dict[str, Counter[str]] = {
            name: Counter() for name in ("kinds", "files", "damages", "ends")
        }
        shutil.copytree(self.sound_model, self.model)
        self.right = self._answers()
        for name, ended in self.right.items():
            assert ended.code == 0, (name, ended.err)

    @functools.cached_property
    def sound_run(self) -> dict[str, Any]:
        """What a run on the sound cache leaves."""
        words = ["run", self.life.run_config(), "-o", self.root / "runs"]
        ended = self._run({"run": words}, self.life.cache)["run"]
        assert ended.code == 0, ended.err
        [folder] = (self.root / "runs").iterdir()
        return answer(folder)

    def _reading(self) -> Commands:
        """The commands that read a run folder, by name."""
        photo, val, model = self.life.root / "c/images/c0.png", self.life.root / "val-b", self.model
        return {
            "predict": ["predict", model, photo, "--format", "json"],
            "predict step 0": ["predict", model, photo, "--format", "coco", "--step", 0],
            "evaluate": ["evaluate", model, "--root", val, "--split", "train", "--json"],
            "info": ["info", model, "--json"],
            "report": ["report", model, "-o", self.scratch / "report.html"],
            "rollback": ["rollback", model, "--to", 0],
            "learn": self.life.learn_words("c", model),
        }

    def _answers(self) -> dict[str, Outcome]:
        """What every command says of the model in its place."""
        spare = self.scratch / "spare"
        shutil.copytree(self.model, spare, symlinks=True)

        def undo(name: str) -> None:
            if name in CHANGING:
                shutil.rmtree(self.model)
                shutil.copytree(spare, self.model, symlinks=True)

        return self._run(self._reading(), self.life.cache, undo)

    def case(self, number: int, seed: int) -> list[str]:
        """Damage something and let every command read it; what went wrong."""
        dice = random.Random(f"{seed}/{number}")
        [kind] = dice.choices(list(WEIGHTS), list(WEIGHTS.values()))
        self.counts["kinds"][kind] += 1
        shutil.rmtree(self.scratch, ignore_errors=True)
        if kind == CACHE:
            folder, ends = self._cache_case(dice)
        elif kind == DATA:
            folder, ends = self._data_case(dice)
        else:
            folder, ends = self._folder_case(kind, dice)
        problems = []
        for name, (ended, problem) in ends.items():
            how = "refused" if ended.code == 2 else "answered"
            self.counts["ends"][f"{name}: {'wrong' if problem else how}"] += 1
            if problem:
                problems.append(f"{number}: {kind}, {folder}; {name}: {problem}")
        return problems

    def _folder_case(
        self, kind: str, dice: random.Random
    ) -> tuple[str, dict[str, tuple[Outcome, str]]]:
        """A damaged model answers as the sound one does, or not at all."""
        shutil.copytree(self.sound_model, self.model)
        if kind == OLD:
            (self.model / "checksums.json").unlink()
        about = self._damage_some(self.model, dice)
        ends = {}
        for name, ended in self._answers().items():
            problem = trouble(ended)
            is_other = ended.code == 0 and ended.out != self.right[name].out
            if not problem and is_other and kind == SEALED and name in ANSWERS:
                problem = f"another answer: {ended.out[:300]}"
            ends[name] = ended, problem
        return about, ends

    def _cache_case(self, dice: random.Random) -> tuple[str, dict[str, tuple[Outcome, str]]]:
        """A run on a damaged cache ends with the same numbers and weights."""
        right, cache = self.sound_run, self.scratch / "cache"
        shutil.copytree(self.life.cache, cache)
        about = self._damage_some(cache, dice)
        runs = self.scratch / "runs"
        commands: Commands = {
            "cache": ["cache"],
            "run": ["run", self.life.run_config(), "-o", runs],
            "cache clear": ["cache", "clear"],
        }
        ends = {}
        for name, ended in self._run(commands, cache).items():
            problem = trouble(ended)
            if not problem and ended.code != 0:
                problem = f"a damaged cache is no reason to stop: {ended.err[-300:]}"
            elif not problem and name == "run" and [answer(f) for f in runs.iterdir()] != [right]:
                problem = "other weights or numbers"
            ends[name] = ended, problem
        return about, ends

    def _data_case(self, dice: random.Random) -> tuple[str, dict[str, tuple[Outcome, str]]]:
        """Photos with faults are told, by `data check` and before anything is learned."""
        data = self.scratch / "data"
        shutil.copytree(self.life.root / "b", data)
        about = self._damage_some(data, dice)
        commands: Commands = {
            "data check": ["data", "check", data],
            "data shrink": ["data", "shrink", data, self.scratch / "small"],
            "data import": ["data", "import", data, self.scratch / "imported"],
            "learn": ["learn", self.scratch / "new", data, *self.life.learn_words("a", data)[3:]],
            "predict": ["predict", self.sound_model, data / "images", "-o", self.scratch / "out"],
            "evaluate": ["evaluate", self.sound_model, "--root", data, "--split", "train"],
        }
        ends = self._run(commands, self.scratch / "cache")
        return about, {f"{name} of data": (each, trouble(each)) for name, each in ends.items()}

    def _run(
        self, commands: Commands, cache: Path, after: Callable[[str], None] = lambda name: None
    ) -> dict[str, Outcome]:
        environment = {"RECALLSEG_CACHE": str(cache)}
        ended: dict[str, Outcome] = outcomes(commands, self.seconds, after, **environment)
        return ended

    def _damage_some(self, folder: Path, dice: random.Random) -> str:
        """Damage a file, each kind of which has the same chance, however many there are of it."""
        by_kind: dict[str, list[Path]] = {}
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                by_kind.setdefault(file_kind(path.relative_to(folder)), []).append(path)
        kind = dice.choice(list(by_kind))
        path = dice.choice(by_kind[kind])
        self.counts["files"][kind] += 1
        way = damage(path, dice)
        self.counts["damages"][way] += 1
        return f"{path.relative_to(folder)} {way}"


def file_kind(path: Path) -> str:
    """The path of a file without what differs between files of one kind: numbers and keys."""
    return re.sub(r"\b[0-9a-f]{16}\b", "KEY", re.sub(r"\d+(?=\.\w+$)", "N", path.as_posix()))


def trouble(ended: Outcome) -> str:
    """What is wrong with the way in which a command ended; empty if nothing is."""
    if ended.code is None:
        return "no end"
    if ended.code in (0, 2) and "Traceback" not in ended.err:
        return ""
    return f"exit code {ended.code}: {ended.err[-700:]}"


def write_outcome(path: Path | None, fuzzer: Fuzzer, seed: int, problems: list[str]) -> None:
    """Put what was done so far, and what came of it, into a file."""
    if path:
        counts = {name: dict(sorted(each.items())) for name, each in fuzzer.counts.items()}
        cases, commands = fuzzer.counts["kinds"].total(), fuzzer.counts["ends"].total()
        outcome = {"seed": seed, "cases": cases, "commands": commands, **counts}
        path.write_text(json.dumps(outcome | {"problems": problems}, indent=1) + "\n")


def main() -> int:
    """Run the cases and print what went wrong; the exit code is 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="after which a command hangs")
    parser.add_argument("--json", type=Path, help="where to write what was done and its outcome")
    chosen = parser.parse_args()
    began, problems = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder), chosen.seconds)
        for number in range(chosen.first, chosen.first + chosen.cases):
            found = fuzzer.case(number, chosen.seed)
            problems += found
            for line in found:
                print(line, flush=True)  # noqa: T201
            write_outcome(chosen.json, fuzzer, chosen.seed, problems)
            if number % 25 == 24:
                print(f"{number + 1} cases, {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
    print(f"{chosen.cases} cases, {len(problems)} problems")  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
