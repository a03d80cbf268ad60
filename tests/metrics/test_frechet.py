"""The Fréchet distance against its closed form."""

import numpy as np
import pytest
import torch

from recallseg.metrics.frechet import frechet_distance


def reference(one, other):
    """The formula as it stands, with a root of the product by its eigenvalues."""
    first, second = np.cov(one.T), np.cov(other.T)
    roots = np.sqrt(np.linalg.eigvals(first @ second).astype(complex)).real.sum()
    apart = ((one.mean(0) - other.mean(0)) ** 2).sum()
    return apart + np.trace(first) + np.trace(second) - 2 * roots


@pytest.mark.parametrize(("count", "dims"), [(60, 5), (40, 12)])
def test_it_is_the_formula(count, dims):
    rng = np.random.default_rng(count)
    one = rng.normal(size=(count, dims)) @ rng.normal(size=(dims, dims)) + 1
    other = rng.normal(size=(2 * count, dims))
    found = frechet_distance(torch.from_numpy(one), torch.from_numpy(other))
    assert found == pytest.approx(reference(one, other), rel=1e-6)


def test_sets_are_at_no_distance_from_themselves_and_shifts_count_squared():
    features = torch.randn(8, 30, generator=torch.Generator().manual_seed(0))
    assert frechet_distance(features, features) == pytest.approx(0, abs=1e-9)
    assert frechet_distance(features, features + 0.5) == pytest.approx(30 / 4, rel=1e-5)
