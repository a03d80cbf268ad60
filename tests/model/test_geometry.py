import recallseg.torchvision_guard  # noqa: F401

import numpy as np
import pytest
import torch
from skimage.data import astronaut
from torch import Tensor
from torch.nn import functional as F

from recallseg.model import Encoder
from recallseg.model.geometry import own_rows, pad_to_cells, sparse, to_own_pixels, to_pixels


def test_a_cell_lies_in_the_middle_of_its_square_and_pixels_between_are_mixed() -> None:
    row = torch.tensor([0.0, 4.0, 12.0]).view(1, 1, 1, 3)
    by_hand = [0, 0, 0.5, 1.5, 2.5, 3.5, 5, 7, 9, 11, 12, 12]
    assert to_pixels(row, 4, (1, 12)).flatten().tolist() == by_hand
    assert to_pixels(row, 4, (1, 7)).flatten().tolist() == by_hand[:7]


@pytest.mark.parametrize("every", [2, 4, 8])
def test_sparse_pixels_have_the_values_of_the_same_pixels(every: int) -> None:
    maps = torch.rand(2, 3, 4, 5)
    whole = to_pixels(maps, 16, (61, 75))
    kept = whole[..., sparse(every), sparse(every)]
    size = (kept.shape[-2], kept.shape[-1])
    torch.testing.assert_close(to_pixels(maps, 16, size, every), kept)


def test_images_are_padded_to_a_whole_number_of_cells() -> None:
    for height in range(1, 40):
        padded = pad_to_cells(torch.ones(1, 3, height, 32), 16)
        assert padded.shape == (1, 3, -(-height // 16) * 16, 32)
        assert padded.sum() == 3 * 32 * height
        assert padded[..., :height, :].all()


def likeness(one: Tensor, other: Tensor) -> float:
    return float(F.cosine_similarity(one, other, dim=1).mean())


@pytest.mark.parametrize("output_stride", [32])
def test_a_trained_network_sees_a_mirrored_photo_mirrored(output_stride: int) -> None:
    """Its cells lie symmetrically in the photo, and not half a stride beside that."""
    encoder = Encoder(output_stride=output_stride, finest=16).eval()
    photo = torch.from_numpy(np.ascontiguousarray(astronaut()[:448, :448])).permute(2, 0, 1)[None]
    with torch.no_grad():
        here, mirrored = encoder(photo), encoder(photo.flip(3)).flip(3)
        beside = encoder(photo.roll(16, 3).flip(3)).flip(3)
    inner = (..., slice(4, -4), slice(4, -4))
    same = likeness(here[inner], mirrored[inner])
    shifted = likeness(here[inner], beside[inner])
    assert same > 0.8
    assert same > shifted + 0.1


@pytest.mark.parametrize("size", [(33, 50), (70, 41), (9, 200), (300, 201)])
def test_maps_at_a_photos_own_pixels(size):
    """As if the photo had been resized continuously: cells lie in the middle of their squares."""
    stride, looked_at = 16, (40, 64)
    maps = torch.rand(2, 3, 3, 4)
    found = to_own_pixels(maps, stride, looked_at, size)
    assert found.shape == (2, 3, *size)
    for row, column in [(0, 0), (size[0] - 1, size[1] - 1), (size[0] // 2, size[1] // 3)]:
        expected = maps.double()
        for axis, (at, side, own) in enumerate(
            zip((row, column), looked_at, size, strict=True), start=2
        ):
            cells = maps.shape[axis]
            place = min(max((at + 0.5) * side / own / stride - 0.5, 0), cells - 1)
            low = int(place)
            high = min(low + 1, cells - 1)
            parts = expected.select(2, low), expected.select(2, high)
            expected = parts[0] * (1 - place + low) + parts[1] * (place - low)
        torch.testing.assert_close(found[..., row, column].double(), expected, atol=1e-5, rtol=0)


def test_bands_of_rows_are_the_whole_and_a_photo_as_it_is_takes_the_usual_way():
    maps = torch.rand(1, 3, 3, 4)
    whole = to_own_pixels(maps, 16, (40, 64), (100, 70))
    bands = list(own_rows(maps, 16, (40, 64), (100, 70), at_once=3 * 70 * 7))
    assert len(bands) == 15
    torch.testing.assert_close(torch.cat([rows for _, rows in bands], dim=-2), whole)
    [(rows, same)] = own_rows(maps, 16, (40, 64), (40, 64), at_once=1)
    assert (rows.start, rows.stop) == (0, 40)
    assert torch.equal(same, to_pixels(maps, 16, (40, 64)))
