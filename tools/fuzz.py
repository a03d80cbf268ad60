"""Damage run folders, caches and datasets by chance, and let every command read them.

    python tools/fuzz.py [--cases 500] [--seed 0] [--seconds 600]

A command must end with exit code 0 and the answer of the sound model, or with one sentence and exit
code 2: never with a traceback, never without end, never with another answer. What is made on the
way lies in a temporary folder. Commands run in forks of one process, on the smallest of models.
"""

import argparse
import collections
import functools
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support"))

from children import Outcome, recallseg
from tiny_life import TinyLife, answer

SEALED, OLD, CACHE, DATA = "run folder", "older run folder", "cache", "dataset"
KINDS = (SEALED, OLD, CACHE, DATA)
"""What is damaged; an older run folder has no checksums, so it may answer differently."""
WEIGHTS = (6, 3, 1, 2)


def damage(path: Path, dice: random.Random) -> str:
    """Change one file for the worse; how."""
    ways: list[Callable[[Path, random.Random], None]] = [
        flipped, flipped, cut_off, emptied, removed, garbage, other_bytes, a_folder, a_dead_link
    ]  # fmt: skip
    if path.suffix in (".json", ".jsonl"):
        ways += [other_json] * 4
    way = dice.choice(ways)
    way(path, dice)
    return way.__name__.replace("_", " ")


def flipped(path: Path, dice: random.Random) -> None:
    """Turn one to three bytes into others."""
    held = bytearray(path.read_bytes()) or bytearray(b" ")
    for _ in range(dice.randint(1, 3)):
        held[dice.randrange(len(held))] ^= dice.randint(1, 255)
    path.write_bytes(held)


def cut_off(path: Path, dice: random.Random) -> None:
    """Lose the end."""
    held = path.read_bytes()
    path.write_bytes(held[: dice.randrange(len(held) or 1)])


def emptied(path: Path, dice: random.Random) -> None:
    """Lose everything."""
    path.write_bytes(b"")


def removed(path: Path, dice: random.Random) -> None:
    """Lose the file."""
    path.unlink()


def garbage(path: Path, dice: random.Random) -> None:
    """Hold something else."""
    path.write_bytes(dice.randbytes(dice.randint(1, 400)))


def other_bytes(path: Path, dice: random.Random) -> None:
    """Hold what another file of the folder should hold."""
    others = [each for each in sorted(path.parent.iterdir()) if each.is_file() and each != path]
    path.write_bytes(dice.choice(others).read_bytes() if others else b"\xff\xfe\x00")


def a_folder(path: Path, dice: random.Random) -> None:
    """Be a folder."""
    path.unlink()
    path.mkdir()


def a_dead_link(path: Path, dice: random.Random) -> None:
    """Be a link to nothing."""
    path.unlink()
    path.symlink_to("nothing-here")


def other_json(path: Path, dice: random.Random) -> None:
    """Hold JSON that means something else: a value is lost, or of another type."""
    text = path.read_text()
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    number = dice.randrange(len(lines))
    lines[number] = json.dumps(_changed(json.loads(lines[number]), dice))
    path.write_text("\n".join(lines) + "\n")


def _changed(value: Any, dice: random.Random) -> Any:  # noqa: ANN401
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        if dice.random() < 0.25:
            return {name: each for name, each in value.items() if name != key}
        return value | {key: _changed(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        place = dice.randrange(len(value))
        return [*value[:place], _changed(value[place], dice), *value[place + 1 :]]
    strange: list[Any] = [None, -1, 10**30, 1.5, "", "x\ud800", [], {}, [[]], True, [None], {"": 0}]
    return dice.choice(strange)


CHANGING = ("rollback", "learn")
"""Commands that change the model that they read."""
ANSWERS = ("predict", "predict step 0", "evaluate")
"""Commands whose answer is that of the sound model, or none."""


class Fuzzer:
    """The sound things, what commands say of them, and what they say of damaged copies."""

    def __init__(self, root: Path, seconds: float) -> None:
        self.root, self.seconds = root, seconds
        self.life = TinyLife(root / "life")
        self.sound_model = self.life.model()
        self.scratch = root / "scratch"
        self.model = self.scratch / "model"
        shutil.copytree(self.sound_model, self.model)
        self.right = self._answers()
        for name, ended in self.right.items():
            assert ended.code == 0, (name, ended.err)

    @functools.cached_property
    def sound_run(self) -> dict[str, Any]:
        """What a run on the sound cache leaves."""
        words = ["run", self.life.run_config(), "-o", self.root / "runs"]
        ended = self._run(words, self.life.cache)
        assert ended.code == 0, ended.err
        [folder] = (self.root / "runs").iterdir()
        return answer(folder)

    def _reading(self) -> dict[str, list[Any]]:
        """The commands that read a run folder, by name; `export` and `serve` open it as `predict`
        does, and take too long for this."""
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
        answers = {}
        for name, words in self._reading().items():
            answers[name] = self._run(words, self.life.cache)
            if name in CHANGING:
                shutil.rmtree(self.model)
                shutil.copytree(spare, self.model, symlinks=True)
        return answers

    def case(self, number: int, seed: int) -> list[str]:
        """Damage something and let every command read it; what went wrong."""
        dice = random.Random(f"{seed}/{number}")
        [kind] = dice.choices(KINDS, WEIGHTS)
        shutil.rmtree(self.scratch, ignore_errors=True)
        if kind == CACHE:
            return self._cache_case(dice, f"{number}: {kind}")
        if kind == DATA:
            return self._data_case(dice, f"{number}: {kind}")
        shutil.copytree(self.sound_model, self.model)
        if kind == OLD:
            (self.model / "checksums.json").unlink()
        about = f"{number}: {kind}, {self._damage_some(self.model, dice)}"
        problems = []
        for name, ended in self._answers().items():
            problem = trouble(ended)
            is_other = ended.code == 0 and ended.out != self.right[name].out
            if not problem and is_other and kind == SEALED and name in ANSWERS:
                problem = f"another answer: {ended.out[:300]}"
            if problem:
                problems.append(f"{about}; {name}: {problem}")
        return problems

    def _run(self, words: list[Any], cache: Path) -> Outcome:
        return recallseg(*words, seconds=self.seconds, RECALLSEG_CACHE=str(cache))

    def _damage_some(self, folder: Path, dice: random.Random) -> str:
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        path = dice.choice(files)
        return f"{path.relative_to(folder)} {damage(path, dice)}"

    def _cache_case(self, dice: random.Random, about: str) -> list[str]:
        """A run on a damaged cache must end with the same numbers and weights."""
        right, cache = self.sound_run, self.scratch / "cache"
        shutil.copytree(self.life.cache, cache)
        about += f", {self._damage_some(cache, dice)}"
        words = ["run", self.life.run_config(), "-o", self.scratch / "runs"]
        ended = self._run(words, cache)
        problem = trouble(ended)
        if not problem and ended.code == 0:
            [folder] = (self.scratch / "runs").iterdir()
            if answer(folder) != right:
                problem = "other weights or numbers"
        elif not problem:
            problem = f"a damaged cache is no reason to stop: {ended.err[-300:]}"
        return [f"{about}; run: {problem}"] if problem else []

    def _data_case(self, dice: random.Random, about: str) -> list[str]:
        """Photos with faults are told, by `data check` and before anything is learned."""
        data = self.scratch / "data"
        shutil.copytree(self.life.root / "b", data)
        about += f", {self._damage_some(data, dice)}"
        commands = {
            "data check": ["data", "check", data],
            "learn": ["learn", self.scratch / "new", data, *self.life.learn_words("a", data)[3:]],
            "predict": ["predict", self.sound_model, data / "images", "-o", self.scratch / "out"],
        }
        problems = []
        for name, words in commands.items():
            problem = trouble(self._run(words, self.scratch / "cache"))
            if problem:
                problems.append(f"{about}; {name}: {problem}")
        return problems


def trouble(ended: Outcome) -> str:
    """What is wrong with the way in which a command ended; empty if nothing is."""
    if ended.code is None:
        return "no end"
    if ended.code in (0, 2) and "Traceback" not in ended.err:
        return ""
    return f"exit code {ended.code}: {ended.err[-700:]}"


def main() -> int:
    """Run the cases and print what went wrong; the exit code is 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="after which a command hangs")
    chosen = parser.parse_args()
    began, problems = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder), chosen.seconds)
        for number in range(chosen.first, chosen.first + chosen.cases):
            found = fuzzer.case(number, chosen.seed)
            problems += found
            for line in found:
                print(line, flush=True)  # noqa: T201
            if number % 25 == 24:
                print(f"{number + 1} cases, {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
    kinds = collections.Counter(problem.split("; ")[1].split(":")[0] for problem in problems)
    print(f"{chosen.cases} cases, {len(problems)} problems {dict(kinds)}")  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
