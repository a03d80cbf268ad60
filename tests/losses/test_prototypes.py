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


def attraction(features, labels, prototypes, known):
    each = [
        np.mean([np.mean((v - prototypes[c]) ** 2) for v in vectors_of(features, labels, c)])
        for c in means_of(features, labels)
        if known[c]
    ]
    return numpy_reference.mean(each)


def repulsion(features, labels, prototypes, known):
    means = means_of(features, labels)
    each = [
        1 / np.sqrt(np.sum((means[c] - prototypes[other]) ** 2) + sdr.EPSILON)
        for c in means
        for other in range(CLASSES)
        if known[other] and other != c
    ]
    return numpy_reference.mean(each)


def sparsity(features, *_):
    each = []
    for b, y, x in np.ndindex(2, 2, 2):
        vector = np.maximum(features[b, :, y, x], 0)
        vector = vector / max(vector.max(), sdr.EPSILON)
        each.append(np.exp(vector).sum() / max(vector.sum(), 1))
    return numpy_reference.mean(each)


def in_torch(name, features, labels, prototypes, known):
    if name == "sparsity":
        return sdr.sparsity(features)
    labels, prototypes, known = map(torch.from_numpy, (labels, prototypes, known))
    if name == "attraction":
        return sdr.attraction(features, labels, prototypes, known)
    means, counts = sdr.class_means(features, labels, CLASSES)
    function = {"matching": sdr.prototype_matching, "repulsion": sdr.repulsion}[name]
    return function(means, counts, prototypes, known)


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


def test_cells_take_the_labels_at_their_places():
    labels = torch.arange(24, dtype=torch.uint8).view(1, 4, 6)
    assert sdr.at_cells(labels, (2, 3), 2).tolist() == [[[7, 9, 11], [19, 21, 23]]]
    assert torch.equal(sdr.at_cells(labels, (4, 6), 1), labels)
    beyond = sdr.at_cells(labels[:, :, :5], (2, 3), 2)
    assert beyond.tolist() == [[[7, 9, 255], [19, 21, 255]]]
    assert beyond.dtype == torch.uint8
