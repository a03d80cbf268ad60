"""From a dataset's name to its scenario."""

from collections.abc import Sequence
from pathlib import Path

from recallseg.data import kind_of, open_dataset
from recallseg.data.kinds import FIT
from recallseg.errors import RecallsegError
from recallseg.scenario.lists import read_lists
from recallseg.scenario.presence import compute_presence, read_presence
from recallseg.scenario.scenario import Scenario
from recallseg.scenario.specs import parse_spec


def open_scenario(
    dataset: str,
    spec: str,
    *,
    setup: str = "disjoint",
    rule: str = "standard",
    order: Sequence[str] | None = None,
    lists: Path | None = None,
    root: Path | None = None,
    presence: Path | None = None,
    split: str = "train",
) -> Scenario:
    """Build a scenario from a dataset's masks, or from a presence table without them.

    `lists` is a folder with a list of photos per step, which takes the place of the rule.
    """
    kind = kind_of(dataset)
    if presence is None:
        opened = open_dataset(dataset, split, root)
        classes, table = opened.classes, compute_presence(opened)
        whole = open_dataset(dataset, "train", root) if lists and split == FIT else opened
        stems = tuple(pair.stem for pair in whole.pairs)
    elif kind.fixed_classes is None:
        raise RecallsegError(f"A presence table does not tell the class names of a '{dataset}'.")
    else:
        classes = kind.fixed_classes
        named = kind.train if split == "train" else split
        table = read_presence(presence, named, len(classes))
        stems = table.stems
    ids = class_ids(order, classes) if order else None
    listed = None
    if lists is not None:
        listed = read_lists(lists, len(parse_spec(spec, len(classes) - 1)), stems)
    return Scenario(spec, classes, table, setup=setup, rule=rule, order=ids, lists=listed)


def class_ids(names: Sequence[str], classes: Sequence[str]) -> list[int]:
    """The ids of class names; an unknown one lists those there are."""
    strangers = [name for name in names if name not in classes]
    if strangers:
        raise RecallsegError(
            f"Unknown classes in the order: {', '.join(strangers)}. Known: {', '.join(classes)}."
        )
    return [classes.index(name) for name in names]
