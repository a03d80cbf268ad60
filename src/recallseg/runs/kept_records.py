"""What results hold that are kept without their run folders."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict

from recallseg.errors import RecallsegError
from recallseg.runs.records import ResultRecord, read_text_record


class KeptResultRecord(ResultRecord):
    """A `result.json` that was kept with how it came about."""

    row: NotRequired[str]
    command: NotRequired[str]
    settings: NotRequired[dict[str, Any]]


class RunScores(TypedDict):
    """mIoU of one run of a table after its last step."""

    old: float | None
    new: float | None
    all: float | None
    foreground: float | None
    steps: NotRequired[list[float | None]]
    """`all` after each step; tables of before do not have it."""


class CellRecord(TypedDict):
    """A row of a table in one scenario and setup: means over its seeds, after the last step."""

    row: str
    scenario: str
    setup: str
    seeds: list[int]
    runs: list[str]
    """Their folders, whose names stand for all settings of a run."""
    scores: NotRequired[list[RunScores]]
    """Of each of them."""
    keeps_photos: bool
    settings: NotRequired[dict[str, Any]]
    """Those that not all rows of the table share."""
    old: float | None
    old_spread: float | None
    new: float | None
    new_spread: float | None
    all: float | None
    all_spread: float | None


class CountRecord(TypedDict):
    """How far a table is."""

    done: int
    planned: int


class TableRecord(TypedDict):
    """The JSON of `recallseg table`, finished or not."""

    table: str
    overrides: list[str]
    runs: NotRequired[CountRecord]
    settings: NotRequired[dict[str, Any]]
    """Those that all rows share."""
    cells: list[CellRecord]


def kept_tables(folder: Path) -> Iterator[tuple[Path, TableRecord]]:
    """The tables among the JSON files of a folder."""
    for path, values in kept_files(folder):
        if "table" in values:
            yield path, read_text_record(json.dumps(values), TableRecord, str(path))


def kept_files(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The JSON files in a folder, without those in folders inside it."""
    if not folder.is_dir():
        raise RecallsegError(f"{folder} is not a folder of results.")
    for path in sorted(folder.glob("*.json")):
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RecallsegError(f"{path} cannot be read: {error}.") from error
        yield path, values if isinstance(values, dict) else {}
