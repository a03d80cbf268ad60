import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recallseg.losses import cross_entropy


def reference(logits, labels):
    """Eq. 1 pixel by pixel."""
    total, count = 0.0, 0
    for b, y, x in np.ndindex(*labels.shape):
        if labels[b, y, x] == 255:
            continue
        column = logits[b, :, y, x]
        shifted = column - column.max()
        total -= shifted[labels[b, y, x]] - np.log(np.exp(shifted).sum())
        count += 1
    return total / max(1, count)


@settings(max_examples=40, deadline=None)
@given(classes=st.integers(1, 5), scale=st.sampled_from([1.0, 1e4]), seed=st.integers(0, 10**6))
def test_equals_the_equation_with_void_left_out(classes, scale, seed):
    rng = np.random.default_rng(seed)
    logits = scale * rng.normal(size=(2, classes, 3, 4))
    labels = rng.choice([*range(classes), 255], (2, 3, 4)).astype(np.uint8)
    value = cross_entropy(torch.from_numpy(logits), torch.from_numpy(labels))
    np.testing.assert_allclose(value.item(), reference(logits, labels), rtol=1e-6, atol=1e-6)


def test_all_void_costs_nothing_and_moves_nothing():
    logits = torch.randn(1, 3, 2, 2, requires_grad=True)
    value = cross_entropy(logits, torch.full((1, 2, 2), 255))
    value.backward()
    assert value.item() == 0
    assert logits.grad is not None
    assert not logits.grad.any()


def test_gradient():
    logits = torch.randn(2, 3, 2, 2, dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([[[0, 1], [2, 255]], [[1, 1], [0, 2]]])
    assert torch.autograd.gradcheck(lambda x: cross_entropy(x, labels), logits)
