"""Means over several placements of a photo."""

import pytest
import torch

from recallseg.predict.placements import averaged, placements

GREY = torch.tensor([128.0, 128.0, 128.0])


@pytest.mark.parametrize("count", [2, 5, 13, 16, 32])
def test_placements_share_no_row_and_no_column(count):
    places = placements(count, 32)
    assert places[0] == (0, 0)
    for side in zip(*places, strict=True):
        assert sorted(side) == [number * 32 // count for number in range(count)]


def sampled_rows(photos):
    """A network that looks at one row out of four and takes the others for the same."""
    return photos[..., ::4, :].repeat_interleave(4, dim=-2)[..., : photos.shape[-2], :]


def test_what_samples_rows_follows_a_photo_at_every_placement_of_its_period():
    photos = torch.randn(1, 3, 24, 16)
    moved = torch.roll(photos, 1, dims=-2)

    def change(places):
        still, shifted = (averaged(sampled_rows, each, places, GREY) for each in (photos, moved))
        return (torch.roll(shifted, -1, dims=-2) - still)[..., 8:16, :].abs().max()

    assert change(placements(1, 4)) > 0.1
    assert change(placements(4, 4)) < 1e-5


def test_the_mean_is_one_of_probabilities():
    photos = torch.randn(2, 3, 8, 8)
    seen = averaged(lambda each: each, photos, placements(3, 8), GREY)
    torch.testing.assert_close(seen.exp(), photos.softmax(dim=1))
