import torch

from recallseg.metrics.boundary import near_boundary


def test_pixels_within_reach_of_another_label():
    mask = torch.zeros(9, 12, dtype=torch.uint8)
    mask[:, 6:] = 4
    expected = torch.zeros(9, 12, dtype=torch.bool)
    expected[:, 4:8] = True
    assert torch.equal(near_boundary(mask, reach=2), expected)


def test_void_and_corners_count():
    mask = torch.zeros(9, 9, dtype=torch.uint8)
    mask[0, 0] = 255
    expected = torch.zeros(9, 9, dtype=torch.bool)
    expected[:4, :4] = True
    assert torch.equal(near_boundary(mask), expected)


def test_a_plain_mask_has_no_boundary():
    assert not near_boundary(torch.full((5, 7), 3, dtype=torch.uint8)).any()
