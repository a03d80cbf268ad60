"""From a dataset's name to its scenario."""

from collections.abc import Sequence
from pathlib import Path

from recallseg.data import kind_of, open_dataset
from recallseg.errors import RecallsegError
from recallseg.scenario.presence import compute_presence, read_presence
from recallseg.scenario.scenario import Scenario


def open_scenario(
    dataset: str,
    spec: str,
    *,
    setup: str = "disjoint",
    rule: str = "standard",
    order: Sequence[str] | None = None,
    root: Path | None = None,
    presence: Path | None = None,
    split: str = "train",
) -> Scenario:
    """Build a scenario from a dataset's masks, or from a presence table without them."""
    kind = kind_of(dataset)
    if presence is None:
        opened = open_dataset(dataset, split, root)
        classes, table = opened.classes, compute_presence(opened)
    elif kind.fixed_classes is None:
        raise RecallsegError(f"A presence table does not tell the class names of a '{dataset}'.")
    else:
        classes = kind.fixed_classes
        named = kind.train if split == "train" else split
        table = read_presence(presence, named, len(classes))
    ids = class_ids(order, classes) if order else None
    return Scenario(spec, classes, table, setup=setup, rule=rule, order=ids)


def class_ids(names: Sequence[str], classes: Sequence[str]) -> list[int]:
    """The ids of class names; an unknown one lists those there are."""
    strangers = [name for name in names if name not in classes]
    if strangers:
        raise RecallsegError(
            f"Unknown classes in the order: {', '.join(strangers)}. Known: {', '.join(classes)}."
        )
    return [classes.index(name) for name in names]
