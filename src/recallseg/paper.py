"""The paper's own numbers, as its tables print them, mistakes included."""

import json
from functools import cache
from importlib import resources
from typing import Any

TRIPLE = ("old", "new", "all")
"""The three numbers of a cell of Table 1."""

COUNTS_BACKGROUND_AS_OLD = ("FT", "LwF", "LwF-MC", "ILT", "CIL", "MiB", "SDR", "Joint")
"""Rows of Table 1 whose `old` includes the background: only then does their `all` follow from `old`
and `new` (for MiB in the lower half; its upper half has no background at all). S&R and RECALL leave
it out of `old`, as the per-class tables show."""

NOTES = (
    "Rows of Table 1 differ in what old means: FT, Joint and the competitors count the background "
    "as an old class, S&R and RECALL do not.",
    "MiB's numbers for 19-1, 15-5 and 15-1 leave the background out altogether.",
    "Two cells of ILT do not add up: 10-5 overlapped by 1.6, 10-1 disjoint by 0.2.",
    "The per-class rows of FT are one scenario off: 15-5 repeats 19-1, and 15-1 is 15-5.",
    "The per-class rows of inpainting for 15-1, 10-10, 10-5 and 10-1 are said to be disjoint but "
    "are the overlapped ones of the ablation.",
    "RECALL (Web) in 15-1 overlapped is 64.8 in Table 1 and 64.9 in the table on pre-training.",
    "The per-round means of FT and the competitors leave the background out, RECALL's count it.",
)
"""Where the tables contradict themselves; a test derives each."""


@cache
def paper() -> dict[str, Any]:
    """All tables: `table_1`, `ablation`, `pre_training`, `replay_on_competitors`, `per_round`,
    `per_class`, `class_mapping` and `ade20k_100_10`."""
    text = (resources.files("recallseg") / "paper.json").read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text)
    return tables


def table_1(row: str, scenario: str, setup: str) -> dict[str, float] | None:
    """A cell of Table 1, or None where the paper has none."""
    numbers = paper()["table_1"].get(row, {}).get(scenario, {}).get(setup)
    return None if numbers is None else dict(zip(TRIPLE, numbers, strict=True))
