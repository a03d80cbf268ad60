"""Files that say which colour a class has in RGB masks."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from recallseg.data.importing.reading import plain_yaml, read_text
from recallseg.data.palette import voc_palette
from recallseg.errors import RecallsegError

Colour = tuple[int, int, int]
LABELMAP = re.compile(r"(?P<name>[^:]+):(?P<levels>\d+,\d+,\d+)?:[^:]*:[^:]*")

HELP = (
    "write `name: [255, 0, 0]` or `name: '#ff0000'` (YAML or JSON), or a line such as "
    "`name 255 0 0` for each class"
)


def read_colours(path: Path) -> dict[str, Colour]:
    """The colours of class names, from YAML or JSON, or from lines.

    Lines may be `name 255 0 0`, `255 0 0 name`, or those of a `labelmap.txt`:
    `name:255,0,0:parts:actions`.
    """
    if not path.is_file():
        raise RecallsegError(f"The file of colours {path} does not exist; {HELP}.")
    text = read_text(path)
    entries = _from_labelmap(text) or _from_mapping(text) or dict(_from_lines(text, path))
    colours = {name: _colour(value, f"{path}, '{name}'") for name, value in entries.items()}
    if not colours:
        raise RecallsegError(f"{path} names no colour; {HELP}.")
    if twice := _shared_colours(colours):
        raise RecallsegError(f"{path} has one colour for {' and '.join(twice)}.")
    return colours


def _from_labelmap(text: str) -> dict[str, list[int]]:
    """The lines of a `labelmap.txt`, or nothing; a class without a colour has VOC's."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    entries = [LABELMAP.fullmatch(line) for line in lines if not line.startswith("#")]
    if not entries or not all(entries):
        return {}
    return {
        entry["name"]: [int(level) for level in entry["levels"].split(",")]
        if entry["levels"]
        else voc_palette()[place % 256].tolist()
        for place, entry in enumerate(filter(None, entries))
    }


def _from_mapping(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text.lstrip().startswith("{") else plain_yaml(text)
    except (ValueError, yaml.YAMLError, RecursionError):
        return {}
    return {str(name): colour for name, colour in value.items()} if isinstance(value, dict) else {}


def _from_lines(text: str, path: Path) -> list[tuple[str, list[str]]]:
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith(("#", "//")):
            continue
        words = re.split(r"[\s,;]+", line.strip())
        numbers_first = all(word.isdigit() for word in words[:3]) and len(words) > 3
        levels = words[:3] if numbers_first else words[-3:]
        if len(words) < 4 or not all(word.isdigit() for word in levels):
            raise RecallsegError(f"{path}, line {number} is {line!r}; {HELP}.")
        entries.append((" ".join(words[3:] if numbers_first else words[:-3]), levels))
    return entries


def _colour(value: Any, where: str) -> Colour:  # noqa: ANN401
    if isinstance(value, str) and re.fullmatch(r"#?[0-9a-fA-F]{6}", value.strip()):
        digits = value.strip().lstrip("#")
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if isinstance(value, str):
        value = re.split(r"[\s,;]+", value.strip())
    try:
        red, green, blue = (int(level) for level in value)
    except (TypeError, ValueError) as error:
        raise RecallsegError(f"{where} has the colour {value!r}; {HELP}.") from error
    if not all(0 <= level <= 255 for level in (red, green, blue)):
        raise RecallsegError(f"{where} has the colour {value!r}; levels are 0–255.")
    return red, green, blue


def _shared_colours(colours: dict[str, Colour]) -> list[str] | None:
    by_colour: dict[Colour, list[str]] = {}
    for name, colour in colours.items():
        by_colour.setdefault(colour, []).append(name)
    return next((names for names in by_colour.values() if len(names) > 1), None)
