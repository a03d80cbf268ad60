"""Overlapping windows over an image that is too large to be looked at in one go."""

from collections.abc import Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """A stretch along one side of an image: what is looked at, and the part of it that is kept."""

    start: int
    stop: int
    keep_from: int
    keep_to: int

    @property
    def seen(self) -> slice:
        """The pixels that are looked at."""
        return slice(self.start, self.stop)

    @property
    def kept(self) -> slice:
        """The pixels of the image whose result is kept."""
        return slice(self.keep_from, self.keep_to)

    @property
    def kept_within(self) -> slice:
        """The same pixels, counted from the start of what is looked at."""
        return slice(self.keep_from - self.start, self.keep_to - self.start)


def spans(length: int, tile: int, margin: int, stride: int = 1) -> Iterator[Span]:
    """Stretches of at most `tile` pixels whose kept parts cover `length` exactly once.

    The result of the outer `margin` pixels is dropped wherever the image goes on, because a
    network knows too little of their surroundings. Stretches begin at multiples of `stride`, so
    that the cells of a network's features lie where they lie in the whole image.
    """
    advance = (tile - 2 * margin) // stride * stride
    if advance < 1:
        raise ValueError(
            f"a tile of {tile} has less than {stride} pixels left within margins of {margin}"
        )
    start = keep_from = 0
    while start + tile < length:
        yield Span(start, start + tile, keep_from, start + tile - margin)
        keep_from = start + tile - margin
        start += advance
    yield Span(start, length, keep_from, length)


def windows(
    height: int, width: int, tile: int, margin: int, stride: int = 1
) -> Iterator[tuple[Span, Span]]:
    """The (vertical, horizontal) stretches of all windows over an image, row by row."""
    for rows in spans(height, tile, margin, stride):
        for columns in spans(width, tile, margin, stride):
            yield rows, columns
