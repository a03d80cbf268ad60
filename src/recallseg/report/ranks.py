"""How far two lists of scores agree on an order."""

import statistics
from collections.abc import Iterable, Sequence


def rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Spearman's: 1 for the same order, -1 for the opposite one.

    None for fewer than three scores, and where all of one side are equal.
    """
    if len(ours) < 3 or len(set(ours)) == 1 or len(set(theirs)) == 1:
        return None
    return statistics.correlation(ranks(ours), ranks(theirs))


def correlation_of(pairs: Iterable[tuple[float, float]]) -> float | None:
    """The same for pairs of scores."""
    pairs = list(pairs)
    return rank_correlation([ours for ours, _ in pairs], [theirs for _, theirs in pairs])


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value, the smallest at 1; equal values share the mean of their places."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]
