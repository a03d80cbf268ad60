import pytest
import torch

from recallseg.config import MethodConfig
from recallseg.losses import agreeing_cross_entropy, cross_entropy
from recallseg.methods import Batch, build_method, output_of
from recallseg.model import DeepLabV2, Segmenter
from recallseg.model.encoders import Encoder


class AsItIs(Encoder):
    """Features are given, so there is nothing to encode."""

    def __init__(self) -> None:
        torch.nn.Module.__init__(self)
        self.body, self.stride = torch.nn.Identity(), 4


@pytest.mark.parametrize("soft", [False, True])
def test_labels_are_softened_if_the_settings_say_so(soft):
    torch.manual_seed(0)
    previous, model = (
        Segmenter(AsItIs(), DeepLabV2(8, classes, dilations=(1,), init_std=1.0))
        for classes in (3, 4)
    )
    method = build_method(MethodConfig(name="recall", soft_labels=soft))
    method.previous = previous
    batch = Batch(torch.randint(0, 4, (2, 16, 16)), features=torch.randn(2, 8, 5, 5))
    logits, old = output_of(model, batch).logits, output_of(previous, batch).logits
    expected = (
        agreeing_cross_entropy(logits, old, batch.labels)
        if soft
        else cross_entropy(logits, batch.labels)
    )
    torch.testing.assert_close(method.loss(model, batch), expected)
