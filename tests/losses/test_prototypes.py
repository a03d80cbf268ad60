import numpy as np
import numpy_reference
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recallseg.losses import prototypes as sdr

CLASSES, WIDTH = 4, 3


def drawn(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    features = scale * rng.normal(size=(2, WIDTH, 2, 2))
    labels = rng.choice([0, 1, 2, 3, 255], (2, 2, 2)).astype(np.uint8)
    return features, labels, scale * rng.normal(size=(CLASSES, WIDTH)), rng.random(CLASSES) < 0.7


def vectors_of(features, labels, label):
    places = [place for place in np.ndindex(*labels.shape) if labels[place] == label]
    return [features[b, :, y, x] for b, y, x in places]


def means_of(features, labels):
    found = {c: vectors_of(features, labels, c) for c in range(CLASSES)}
    return {c: np.mean(vectors, axis=0) for c, vectors in found.items() if vectors}


def matching(features, labels, prototypes, known):
    means = means_of(features, labels)
    gaps = [np.mean((means[c] - prototypes[c]) ** 2) for c in means if known[c]]
    return numpy_reference.mean(gaps)


def attraction(features, labels, *_):
    each = [
        np.mean([np.mean((v - mean) ** 2) for v in vectors_of(features, labels, c)])
        for c, mean in means_of(features, labels).items()
    ]
    return numpy_reference.mean(each)


def repulsion(features, labels, *_):
    means = list(means_of(features, labels).values())
    each = [
        1 / max(np.sqrt(np.sum((means[i] - means[j]) ** 2)), np.sqrt(sdr.EPSILON))
        for i in range(len(means))
        for j in range(len(means))
        if i != j
    ]
    return numpy_reference.mean(each)


def sparsity(features, labels, *_):
    each = []
    for c in range(CLASSES):
        vectors = [np.maximum(v, 0) for v in vectors_of(features, labels, c)]
        for vector in vectors:
            f = vector / max(sdr.EPSILON, *(v.max() for v in vectors), 0)
            each.append(np.exp(f).sum() / max(f.sum(), 1))
    return numpy_reference.mean(each)


def in_torch(name, features, labels, prototypes, known):
    labels, prototypes, known = map(torch.from_numpy, (labels, prototypes, known))
    if name == "sparsity":
        return sdr.sparsity(features, labels, CLASSES)
    means, counts = sdr.class_means(features, labels, CLASSES)
    if name == "attraction":
        return sdr.attraction(features, labels, means, counts)
    if name == "repulsion":
        return sdr.repulsion(means, counts)
    return sdr.prototype_matching(means, counts, prototypes, known)


REFERENCES = {
    "matching": matching,
    "attraction": attraction,
    "repulsion": repulsion,
    "sparsity": sparsity,
}


@pytest.mark.parametrize("name", REFERENCES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_value_and_gradient_are_those_of_the_formula(name, seed):
    features, *rest = drawn(seed)
    moved = torch.from_numpy(features).requires_grad_()
    value = in_torch(name, moved, *rest)
    value.backward()
    np.testing.assert_allclose(value.item(), REFERENCES[name](features, *rest), atol=1e-6)
    numeric = numpy_reference.gradient(lambda f: REFERENCES[name](f, *rest), features, 1e-6)
    np.testing.assert_allclose(moved.grad.numpy(), numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", REFERENCES)
def test_nothing_to_see_is_finite(name):
    features, labels, prototypes, known = drawn(0, scale=1e4)
    labels[:] = 255
    moved = torch.from_numpy(features).requires_grad_()
    for none_known in (known, np.zeros_like(known)):
        value = in_torch(name, moved, labels, prototypes, none_known)
        value.backward()
        assert value.isfinite()
        assert moved.grad.isfinite().all()
    blank = torch.zeros_like(moved, requires_grad=True)
    in_torch(name, blank, labels, prototypes, known).backward()
    assert blank.grad.isfinite().all()


def test_classes_of_a_batch_are_pushed_apart():
    """Means (0, 0), (3, 4) and (6, 8) are 5, 5 and 10 apart; a class that is not there has none."""
    means = torch.tensor([[0.0, 0], [3, 4], [9, 9], [6, 8]])
    value = sdr.repulsion(means, torch.tensor([1, 1, 0, 1]))
    assert value.item() == pytest.approx((1 / 5 + 1 / 5 + 1 / 10) / 3)
    assert sdr.repulsion(means, torch.tensor([0, 7, 0, 0])).item() == 0


def test_features_are_measured_by_the_largest_of_their_class():
    """Class 1 has (2, 0) and (1, 1), class 2 has (8, 4): (1, 0), (.5, .5) and (1, .5)."""
    features = torch.tensor([[2.0, 0], [1, 1], [8, 4]]).T.reshape(1, 2, 1, 3)
    value = sdr.sparsity(features, torch.tensor([[[1, 1, 2]]]), 3)
    e, root = np.e, np.sqrt(np.e)
    assert value.item() == pytest.approx(((e + 1) + 2 * root + (e + root) / 1.5) / 3)


def test_cells_take_the_labels_at_their_places():
    labels = torch.arange(24, dtype=torch.uint8).view(1, 4, 6)
    assert sdr.at_cells(labels, (2, 3), 2).tolist() == [[[7, 9, 11], [19, 21, 23]]]
    assert torch.equal(sdr.at_cells(labels, (4, 6), 1), labels)
    beyond = sdr.at_cells(labels[:, :, :5], (2, 3), 2)
    assert beyond.tolist() == [[[7, 9, 255], [19, 21, 255]]]
    assert beyond.dtype == torch.uint8
