"""Kept results of all columns of Table 1 together: shares of joint training, and orders."""

import statistics
from collections.abc import Iterable, Sequence

from recallseg.paper import paper
from recallseg.report.kept_tables import Column
from recallseg.report.ranks import correlation_of, ranks
from recallseg.report.tables import Row, Table


def at_a_glance(columns: Sequence[Column]) -> Table:
    """How much of joint training RECALL keeps in each column, and how far the orders agree."""
    rows, found = [], []
    for column in columns:
        theirs = column.table_1_scores()
        pairs = column.pairs(theirs)
        correlation = correlation_of(pairs.values())
        cells = (
            column.share(column.ours("RECALL (Web)")["all"]),
            column.their_share(theirs["RECALL (Web)"]),
            str(len(pairs)),
            _number(correlation, 2),
        )
        rows.append(Row(f"{column.task.scenario} {column.task.setup}", cells))
        found += [] if correlation is None else [correlation]
    note = ""
    if found:
        mean = statistics.mean(found)
        note = f"Mean rank correlation of {len(found)} of {len(rows)} columns: {mean:.2f}."
    heads = ("RECALL (Web) of Joint", "the paper's", "methods in both", "rank correlation")
    return Table(f"{columns[0].task.dataset} at a glance", heads, tuple(rows), note=note)


def places(columns: Sequence[Column]) -> Table | None:
    """The mean place of each method among those of its column, 1 being the best, and how far the
    orders would agree without it: where they do so better, the method is what they differ in."""
    columns_of_pairs = [
        pairs for column in columns if len(pairs := column.pairs(column.table_1_scores())) > 2
    ]
    rows = []
    for label in paper()["table_1"]:
        with_it = [pairs for pairs in columns_of_pairs if label in pairs]
        if with_it:
            sides = [
                statistics.mean(_place(label, pairs, side) for pairs in with_it) for side in (0, 1)
            ]
            without = _mean_correlation(
                [pair for name, pair in pairs.items() if name != label] for pairs in with_it
            )
            cells = (
                *(_number(place, 1) for place in sides),
                str(len(with_it)),
                _number(without, 2),
            )
            rows.append(Row(label, cells))
    title = f"{columns[0].task.dataset}, the place of each method"
    heads = ("here", "in the paper", "columns", "rank correlation without it")
    return Table(title, heads, tuple(rows)) if len(columns_of_pairs) > 1 else None


def _place(label: str, pairs: dict[str, tuple[float, float]], side: int) -> float:
    scores = {name: -pair[side] for name, pair in pairs.items()}
    return dict(zip(scores, ranks(list(scores.values())), strict=True))[label]


def _mean_correlation(columns: Iterable[list[tuple[float, float]]]) -> float | None:
    found = [value for pairs in columns if (value := correlation_of(pairs)) is not None]
    return statistics.mean(found) if found else None


def _number(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"
