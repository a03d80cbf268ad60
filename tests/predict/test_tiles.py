import numpy as np
import pytest

from recallseg.predict.tiles import spans, windows


@pytest.mark.parametrize(
    ("length", "tile", "margin"), [(1, 8, 2), (8, 8, 2), (9, 8, 2), (100, 16, 4), (13, 4, 0)]
)
def test_every_pixel_is_kept_once_and_seen_with_its_surroundings(length, tile, margin):
    kept = np.zeros(length, dtype=int)
    for span in spans(length, tile, margin):
        kept[span.kept] += 1
        assert span.stop - span.start <= tile
        assert span.keep_from - span.start >= min(margin, span.keep_from)
        assert span.stop - span.keep_to >= min(margin, length - span.keep_to)
    assert kept.tolist() == [1] * length


def test_a_local_operation_gives_the_same_in_tiles():
    image = np.random.default_rng(0).integers(0, 100, (50, 70))

    def blurred(part):
        padded = np.pad(part, 2)
        return sum(
            padded[dy : dy + part.shape[0], dx : dx + part.shape[1]]
            for dy in range(5)
            for dx in range(5)
        )

    found = np.zeros_like(image)
    for rows, columns in windows(*image.shape, 16, 2):
        part = blurred(image[rows.seen, columns.seen])
        found[rows.kept, columns.kept] = part[rows.kept_within, columns.kept_within]
    np.testing.assert_array_equal(found, blurred(image))


def test_a_tile_that_is_all_margin_is_refused():
    with pytest.raises(ValueError, match="less than 1 pixels left"):
        list(spans(100, 16, 8))
