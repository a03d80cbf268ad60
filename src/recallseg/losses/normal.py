"""How far a normal distribution is from the standard one (Kingma & Welling, 2014, appendix B)."""

import torch


def normal_divergence(mean: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) = ½ Σ (μ² + σ² − log σ² − 1), in nats, over the last dimension."""
    return 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum(-1)
