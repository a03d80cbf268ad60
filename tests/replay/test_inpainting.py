import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recallseg.replay.inpainting import inpaint


def by_the_equation(labels, logits, new):
    """Y^bi pixel by pixel, void left alone."""
    result = labels.copy()
    for b, y, x in np.ndindex(*labels.shape):
        if labels[b, y, x] in new or labels[b, y, x] == 255:
            continue
        result[b, y, x] = np.argmax(logits[b, :, y, x])
    return result


@settings(max_examples=50, deadline=None)
@given(old=st.integers(1, 6), new=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_equals_a_loop_over_pixels(old, new, seed):
    rng = np.random.default_rng(seed)
    classes = range(old, old + new)
    labels = rng.choice([0, *classes, 255], (2, 4, 5)).astype(np.uint8)
    logits = rng.normal(size=(2, old, 4, 5)).astype(np.float32)
    result = inpaint(torch.from_numpy(labels), torch.from_numpy(logits))
    assert result.dtype == torch.uint8
    np.testing.assert_array_equal(result.numpy(), by_the_equation(labels, logits, classes))


def test_unsure_predictions_leave_the_background():
    logits = torch.tensor([[0.0, 0.0], [3.0, 0.4]]).view(1, 2, 1, 2)
    labels = torch.zeros(1, 1, 2, dtype=torch.uint8)
    assert inpaint(labels, logits).tolist() == [[[1, 1]]]
    assert inpaint(labels, logits, confidence=0.9).tolist() == [[[1, 0]]]


def test_a_visible_old_label_stays():
    labels = torch.tensor([[[2, 0]]], dtype=torch.uint8)
    logits = torch.tensor([0.0, 5.0, 1.0]).view(1, 3, 1, 1).expand(1, 3, 1, 2)
    assert inpaint(labels, logits).tolist() == [[[2, 1]]]
