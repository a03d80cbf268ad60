import pytest
import torch

from recallseg.errors import RecallsegError
from recallseg.model import Encoder
from recallseg.model.geometry import pad_to_cells, to_pixels


def test_a_cell_lies_at_a_multiple_of_the_stride_and_pixels_between_are_mixed() -> None:
    row = torch.tensor([0.0, 4.0, 12.0]).view(1, 1, 1, 3)
    assert to_pixels(row, 4, (1, 9)).flatten().tolist() == [0, 1, 2, 3, 4, 6, 8, 10, 12]


def test_padding_is_cut_off_and_pixels_may_be_skipped() -> None:
    row = torch.tensor([0.0, 4.0, 12.0]).view(1, 1, 1, 3)
    assert to_pixels(row, 4, (1, 6)).flatten().tolist() == [0, 1, 2, 3, 4, 6]
    assert to_pixels(row, 4, (1, 3), every=2).flatten().tolist() == [0, 2, 4]


def test_images_are_padded_to_a_whole_number_of_cells() -> None:
    for height in range(1, 40):
        padded = pad_to_cells(torch.ones(1, 3, height, 33), 16)
        assert padded.shape == (1, 3, -(-(height - 1) // 16) * 16 + 1, 33)
        assert padded.sum() == 3 * 33 * height
        assert padded[..., :height, :].all()


@pytest.mark.parametrize("name", ["resnet50d", "convnext_atto"])
def test_a_network_that_looks_beside_its_cells_is_refused(name: str) -> None:
    with pytest.raises(RecallsegError, match=r"output stride 16: (it looks|a 129)"):
        Encoder(name, weights="none")
