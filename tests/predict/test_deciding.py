"""Logits become masks and probabilities as softmax and argmax say."""

import torch

from recallseg.predict.deciding import decide


def test_the_class_and_its_probability_are_those_of_the_softmax():
    logits = 5 * torch.randn(2, 7, 9, 11, generator=torch.Generator().manual_seed(0))
    before = logits.clone()
    mask, probable = decide(logits)
    expected, channel = logits.double().softmax(dim=1).max(dim=1)
    assert mask.dtype == torch.uint8
    assert torch.equal(mask.long(), channel)
    torch.testing.assert_close(probable.double(), expected, rtol=1e-6, atol=0)
    assert torch.equal(logits, before)


def test_the_first_of_equal_classes_is_taken_and_large_numbers_stay_finite():
    logits = torch.tensor([[1e4, 1e4, -1e4], [0.0, 2.0, 2.0]]).T.reshape(1, 3, 1, 2)
    mask, probable = decide(logits)
    assert mask.tolist() == [[[0, 1]]]
    share = 1 / (2 + torch.tensor(-2.0).exp())
    torch.testing.assert_close(probable, torch.tensor([[[0.5, share]]]))


def test_a_model_of_one_channel_is_sure():
    mask, probable = decide(torch.randn(1, 1, 2, 2))
    assert mask.sum() == 0
    assert (probable == 1).all()
