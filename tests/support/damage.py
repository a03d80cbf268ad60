"""Ways in which files go bad, by chance."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any


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


def _changed(value: Any, dice: random.Random) -> Any:
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
