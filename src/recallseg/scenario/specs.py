"""What `15-1` means: 15 classes first, then one at a time until all are learned."""

import re
from collections.abc import Collection

from recallseg.errors import RecallsegError

NAMED_SPECS = {
    "voc": ("19-1", "15-5", "15-1", "10-10", "10-5", "10-2", "10-1"),
    "ade": ("100-50", "100-10", "100-5", "50-50"),
}
"""The splits that papers report; any other `a-b` that fits is fine too."""


def parse_spec(spec: str, classes: int, refining: Collection[int] = ()) -> tuple[int, ...]:
    """The number of classes in each step of `spec`, for a dataset of `classes` without background.

    With two numbers, the second is repeated, and the last step is shorter where the rest does not
    divide. With one number or more than two, each is a step, as in the life of a model that learns
    whatever comes: 15, 15-1, 15-1-3. Steps in `refining` add none: 15-1-0.
    """
    sizes = tuple(map(int, spec.split("-"))) if re.fullmatch(r"\d+(-\d+)*", spec) else ()
    if refining:
        zeros = {index for index, size in enumerate(sizes) if size == 0}
        if sizes and zeros == set(refining) and sizes[0] and sum(sizes) == classes:
            return sizes
    elif len(sizes) == 2 and 1 <= sizes[0] < classes and sizes[1] >= 1:
        first, batch = sizes
        full, short = divmod(classes - first, batch)
        return (first, *(batch,) * full, *((short,) if short else ()))
    elif len(sizes) != 2 and all(sizes) and sum(sizes) == classes:
        return sizes
    raise RecallsegError(
        f"The scenario '{spec}' does not fit {classes} classes: write it as a-b, with a from "
        f"1 to {classes - 1} classes first and b of 1 or more at a time after them, for "
        f"example {_examples(classes)}."
    )


def _examples(classes: int) -> str:
    for dataset, count in (("voc", 20), ("ade", 150)):
        if classes == count:
            return ", ".join(NAMED_SPECS[dataset])
    return f"{max(1, classes // 2)}-1 or {classes - 1}-1"
