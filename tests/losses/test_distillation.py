import numpy as np
import numpy_reference
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import recallseg.losses as losses

WITH_TEACHER = (
    "agreeing_cross_entropy",
    "lwf_distillation",
    "classwise_distillation",
    "entropy_weighted_distillation",
    "unbiased_distillation",
)
WITHOUT = ("cross_entropy", "unbiased_cross_entropy", "classwise_cross_entropy")


def call(module, name, logits, old_logits, labels):
    """A loss by name, in torch or in NumPy."""
    function, old = getattr(module, name), old_logits.shape[1]
    if name == "unbiased_cross_entropy":
        return function(logits, labels, old)
    if name in WITHOUT:
        return function(logits, labels)
    extra = (0.7,) if name == "entropy_weighted_distillation" else ()
    return function(logits, old_logits, labels, *extra)


def drawn(seed, old, new, scale=1.0):
    """Logits of both models and labels as a later step has them: background, new classes, void."""
    rng = np.random.default_rng(seed)
    q = scale * rng.normal(size=(1, old + new, 2, 3))
    t = scale * rng.normal(size=(1, old, 2, 3))
    labels = rng.choice([0, *range(old, old + new), 255], (1, 2, 3)).astype(np.uint8)
    return q, t, labels


def in_torch(name, q, t, labels):
    """Value and gradient."""
    logits = torch.from_numpy(q).requires_grad_()
    value = call(losses, name, logits, torch.from_numpy(t), torch.from_numpy(labels))
    value.backward()
    return value.item(), logits.grad.numpy()


@pytest.mark.parametrize("name", WITH_TEACHER + WITHOUT)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), old=st.integers(1, 3), new=st.integers(1, 2))
def test_value_and_gradient_are_those_of_the_formula(name, seed, old, new):
    q, t, labels = drawn(seed, old, new)
    value, gradient = in_torch(name, q, t, labels)
    expected = call(numpy_reference, name, q, t, labels)
    np.testing.assert_allclose(value, expected, atol=1e-6, rtol=1e-6)
    numeric = numpy_reference.gradient(
        lambda moved: call(numpy_reference, name, moved, t, labels), q
    )
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


@pytest.mark.parametrize("name", WITH_TEACHER + WITHOUT)
def test_void_moves_nothing(name):
    q, t, labels = drawn(0, 2, 2)
    labels[0, 0] = 255
    _, gradient = in_torch(name, q, t, labels)
    assert not gradient[0, :, 0].any()
    labels[:] = 255
    value, gradient = in_torch(name, q, t, labels)
    assert value == 0
    assert not gradient.any()


@pytest.mark.parametrize("name", WITH_TEACHER + WITHOUT)
@pytest.mark.parametrize(("old", "new"), [(1, 1), (3, 2)])
def test_extreme_logits_stay_finite(name, old, new):
    for seed in range(5):
        value, gradient = in_torch(name, *drawn(seed, old, new, scale=1e4))
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", WITH_TEACHER + WITHOUT)
def test_gradcheck(name):
    q, t, labels = drawn(3, 2, 2)
    teacher, truth = torch.from_numpy(t), torch.from_numpy(labels)
    logits = torch.from_numpy(q).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: call(losses, name, x, teacher, truth), logits)


def test_unbiased_cross_entropy_without_old_classes_is_the_plain_one():
    q, _, _ = drawn(1, 1, 3)
    labels = torch.tensor([[[0, 1, 2], [3, 255, 0]]])
    logits = torch.from_numpy(q)
    plain = losses.cross_entropy(logits, labels)
    torch.testing.assert_close(losses.unbiased_cross_entropy(logits, labels, 1), plain)


def test_unbiased_distillation_without_new_classes_is_the_plain_one():
    q, t, labels = (torch.from_numpy(each) for each in drawn(2, 3, 0))
    plain = losses.lwf_distillation(q, t, labels)
    torch.testing.assert_close(losses.unbiased_distillation(q, t, labels), plain)


def test_cil_without_entropy_is_distillation_on_unlabelled_pixels():
    q, t, labels = (torch.from_numpy(each) for each in drawn(4, 3, 2))
    found = losses.entropy_weighted_distillation(q, t, labels, 0.0)
    unlabelled = labels == 0
    each = -(t.softmax(1) * q.log_softmax(1)[:, :3]).sum(1)
    torch.testing.assert_close(found, each[unlabelled].mean())


def test_softened_labels_are_hard_where_the_old_model_disagrees():
    q, t, _ = (torch.from_numpy(each) for each in drawn(6, 3, 2))
    seen = t.max(dim=1).indices
    others = (seen + 1) % 3
    hard = losses.cross_entropy(q, others)
    torch.testing.assert_close(losses.agreeing_cross_entropy(q, t, others), hard)
    found = losses.agreeing_cross_entropy(q, t, seen)
    soft = -(t.softmax(1) * q.log_softmax(1)[:, :3]).sum(1)
    torch.testing.assert_close(found, soft.mean())


def test_lwf_against_itself_has_no_gradient():
    q, _, labels = drawn(5, 3, 0)
    _, gradient = in_torch("lwf_distillation", q, q.copy(), labels)
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


def test_feature_distillation_is_the_mean_squared_difference():
    one, other = torch.randn(2, 3, 2, 2), torch.randn(2, 3, 2, 2)
    expected = np.mean((one.numpy() - other.numpy()) ** 2)
    np.testing.assert_allclose(losses.feature_distillation(one, other).item(), expected, rtol=1e-6)
