"""What `15-1` means: 15 classes first, then one at a time until all are learned."""

import re

from recallseg.errors import RecallsegError

NAMED_SPECS = {
    "voc": ("19-1", "15-5", "15-1", "10-10", "10-5", "10-2", "10-1"),
    "ade": ("100-50", "100-10", "100-5", "50-50"),
}
"""The splits that papers report; any other `a-b` that fits is fine too."""


def parse_spec(spec: str, classes: int) -> tuple[int, ...]:
    """The number of classes in each step of `spec`, for a dataset of `classes` without background.

    The last step is shorter where the rest does not divide.
    """
    match = re.fullmatch(r"(\d+)-(\d+)", spec)
    first, batch = map(int, match.groups()) if match else (0, 0)
    if not (match and 1 <= first < classes and batch >= 1):
        raise RecallsegError(
            f"The scenario '{spec}' does not fit {classes} classes: write it as a-b, with a from "
            f"1 to {classes - 1} classes first and b of 1 or more at a time after them, for "
            f"example {_examples(classes)}."
        )
    rest = classes - first
    full, short = divmod(rest, batch)
    return (first, *(batch,) * full, *((short,) if short else ()))


def _examples(classes: int) -> str:
    for dataset, count in (("voc", 20), ("ade", 150)):
        if classes == count:
            return ", ".join(NAMED_SPECS[dataset])
    return f"{max(1, classes // 2)}-1 or {classes - 1}-1"
