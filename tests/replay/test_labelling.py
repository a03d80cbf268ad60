import numpy as np
import pytest
import torch

from recallseg.config import LabelFilters
from recallseg.replay.label_filters import FILTERS, reason_to_reject
from recallseg.replay.labelling import PseudoLabel, pseudo_label


def test_argmax_in_the_channels_of_the_main_model():
    logits = torch.zeros(1, 3, 1, 4)
    logits[0, :, 0] = torch.tensor([[4.0, 0, 0, 0], [0, 4.0, 4.0, 0], [0, 0, 0, 4.0]])
    label = pseudo_label(logits, queried=1, channels=np.array([0, 16, 17], dtype=np.uint8))
    assert label.mask.tolist() == [[0, 16, 16, 17]]
    assert label.area == pytest.approx(0.5)
    assert label.confidence == pytest.approx(torch.tensor([0.0, 4, 0]).softmax(0)[1].item())


def test_a_class_that_is_not_seen():
    label = pseudo_label(
        torch.zeros(1, 2, 3, 3), queried=1, channels=np.array([0, 5], dtype=np.uint8)
    )
    assert (label.area, label.confidence) == (0.0, 0.0)
    assert not label.mask.any()


@pytest.mark.parametrize(
    ("chosen", "area", "confidence", "reason"),
    [
        (LabelFilters(), 0.0, 0.0, "class not seen"),
        (LabelFilters(present=False), 0.0, 0.0, None),
        (LabelFilters(min_area=0.1), 0.05, 0.9, "class too small"),
        (LabelFilters(max_area=0.9), 0.95, 0.9, "class too large"),
        (LabelFilters(min_confidence=0.7), 0.5, 0.6, "not sure enough"),
        (LabelFilters(min_area=0.1, max_area=0.9, min_confidence=0.7), 0.5, 0.8, None),
    ],
)
def test_filters_say_why(chosen, area, confidence, reason):
    label = PseudoLabel(torch.zeros(1, 1).numpy(), area, confidence)
    assert reason_to_reject(label, chosen) == reason


def test_every_filter_has_a_setting():
    assert FILTERS.keys() == LabelFilters.model_fields.keys()
