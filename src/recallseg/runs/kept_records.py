"""What results hold that are kept without their run folders."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from recallseg.runs.records import ResultRecord


class KeptResultRecord(ResultRecord):
    """A `result.json` that was kept with how it came about."""

    row: NotRequired[str]
    command: NotRequired[str]
    settings: NotRequired[dict[str, Any]]


class CellRecord(TypedDict):
    """A row of a table in one scenario and setup: means over its seeds, after the last step."""

    row: str
    scenario: str
    setup: str
    seeds: list[int]
    runs: list[str]
    """Their folders."""
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
