"""The divergence from a standard normal, against torch's own."""

import torch
from torch.distributions import Normal, kl_divergence

from recallseg.losses import normal_divergence


def test_it_is_the_divergence_of_all_dimensions_together():
    torch.manual_seed(0)
    mean, log_variance = torch.randn(2, 5, 3)
    found = kl_divergence(Normal(mean, (log_variance / 2).exp()), Normal(0.0, 1.0)).sum(-1)
    torch.testing.assert_close(normal_divergence(mean, log_variance), found)
    assert normal_divergence(torch.zeros(2, 3), torch.zeros(2, 3)).tolist() == [0, 0]
