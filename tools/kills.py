"""Kill commands at random moments and start them again, and start two at once.

    python tools/kills.py [--kills 100] [--seed 0] [--json FILE]   # SIGKILL, then the same command
    python tools/kills.py --pairs [--json FILE]                    # two of each at once, all pairs

What is there at the end must equal, byte for byte, what the command leaves when nobody disturbs it.
Of two commands at once each must do its work or be turned away with a sentence, and the model must
be one that commands in turn could have made. Commands run in forks, on the smallest of models.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support"))

import preloaded  # noqa: F401
from children import Child, recallseg
from killable import Words, works
from tiny_life import TinyLife, answer

Result = dict[str, Any]
SHARES = {"learn": 32, "run": 24, "rollback": 20, "crawl": 10, "cache": 8, "gan train": 6}
"""Of 100 kills."""


def kill_all(root: Path, kills: int, seed: int, shares: dict[str, int]) -> Result:
    """Spread kills over the commands, up to four in each life of a command; what came of it."""
    problems, struck_by_name = [], {}
    with works(root) as every:
        for name, share in shares.items():
            work, wanted, struck, lives = every[name], max(1, kills * share // 100), 0, 0
            right, length = work.in_peace(root / f"{name} in peace")
            dice = random.Random(f"{seed}/{name}")
            while struck < wanted and lives < 3 * wanted:
                lives += 1
                place = root / f"{name} under fire"
                count = min(4, wanted - struck)
                left, hits = work.under_fire(place, count, 1.2 * length, dice)
                struck += hits
                if left != right:
                    problems.append(f"{name}: another end after {hits} kills, life {lives}")
                shutil.rmtree(place)
            struck_by_name[name] = {"kills": struck, "lives": lives}
            say(f"{name}: {struck} kills in {lives} lives, {length:.1f} s in peace")
    total = sum(each["kills"] for each in struck_by_name.values())
    return {"seed": seed, "kills": total, "commands": struck_by_name, "problems": problems}


def all_pairs(root: Path, names: tuple[str, ...] | None = None) -> Result:
    """Start two of each command at once on one model and one cache; what came of it."""
    life = TinyLife(root / "life")
    begun = life.model()
    model, cache, photo = root / "model", root / "cache", life.root / "c/images/c0.png"
    look = ["predict", model, photo, "--format", "json"]
    commands: dict[str, Words] = {
        "learn c": life.learn_words("c", model),
        "learn b": life.learn_words("b", model),
        "rollback": ["rollback", model, "--to", 0],
        "run": ["run", life.run_config(), "-o", root / "runs"],
        "cache clear": ["cache", "clear"],
        "predict": look,
        "evaluate": ["evaluate", model, "--root", life.root / "val-b", "--split", "train"],
        "info": ["info", model],
        "report": ["report", model, "-o", root / "report.html"],
    }

    def fresh() -> None:
        for path, source in ((model, begun), (cache, life.cache)):
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(source, path)
        shutil.rmtree(root / "runs", ignore_errors=True)

    def seen() -> str:
        ended = recallseg(*look, RECALLSEG_CACHE=str(cache))
        return ended.out if ended.code == 0 else ended.err

    def in_turn(*words: Words) -> str:
        fresh()
        for each in words:
            recallseg(*each, RECALLSEG_CACHE=str(cache))
        return seen()

    def succeeds(name: str) -> bool:
        fresh()
        return recallseg(*commands[name], RECALLSEG_CACHE=str(cache)).code == 0

    names = names or tuple(commands)
    changing = [name for name in ("learn c", "learn b", "rollback") if name in names]
    orders = itertools.chain.from_iterable(itertools.permutations(changing, n) for n in range(3))
    possible = {in_turn(*(commands[name] for name in order)) for order in orders}
    fresh()
    right_run = None
    if "run" in names:
        recallseg(*commands["run"], RECALLSEG_CACHE=str(cache))
        [folder] = (root / "runs").iterdir()
        right_run = answer(folder)
    alone = {name: succeeds(name) for name in names}
    problems, codes = [], {}
    for pair in itertools.combinations_with_replacement(names, 2):
        fresh()
        children = [Child(commands[name], {"RECALLSEG_CACHE": str(cache)}) for name in pair]
        ends = [child.outcome() for child in children]
        for name, ended in zip(pair, ends, strict=True):
            if ended.code not in (0, 2) or "Traceback" in ended.err:
                problems.append(f"{' and '.join(pair)}: {name} {ended.code}: {ended.err[-600:]}")
        if all(alone[name] for name in pair) and all(ended.code == 2 for ended in ends):
            problems.append(f"{' and '.join(pair)}: both were turned away: {ends[0].err}")
        if seen() not in possible:
            problems.append(f"{' and '.join(pair)}: a model that no order makes: {seen()[:300]}")
        if "run" in pair and [answer(each) for each in (root / "runs").iterdir()] != [right_run]:
            problems.append(f"{' and '.join(pair)}: another result of the run")
        codes[" and ".join(pair)] = [ended.code for ended in ends]
        say(f"{' and '.join(pair)}: {codes[' and '.join(pair)]}")
    return {"pairs": len(codes), "exit_codes": codes, "problems": problems}


def say(sentence: str) -> None:
    """Tell how far it is."""
    print(sentence, flush=True)  # noqa: T201


def main() -> int:
    """Print what went wrong; the exit code is 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pairs", action="store_true", help="two commands at once instead")
    parser.add_argument("--json", type=Path, help="where to write what was done and its outcome")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        result = (
            all_pairs(root) if chosen.pairs else kill_all(root, chosen.kills, chosen.seed, SHARES)
        )
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")
    for problem in result["problems"]:
        say(problem)
    say(f"{len(result['problems'])} problems")
    return 1 if result["problems"] else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
