"""The Fréchet distance between two sets of features (Heusel et al., NeurIPS 2017: FID)."""

import torch
from torch import Tensor


def frechet_distance(one: Tensor, other: Tensor) -> float:
    """‖μ₁-μ₂‖² + tr(Σ₁ + Σ₂ - 2 (Σ₁Σ₂)^½) of features (N,D) and (M,D), as if both were normal.

    With centred features A and B, Σ = AᵀA, and the last trace is the sum of the singular values of
    ABᵀ. That needs no root of a matrix, and holds for fewer features than dimensions.
    """
    means = [each.double().mean(0) for each in (one, other)]
    scaled = [
        (each.double() - mean) / max(1, len(each) - 1) ** 0.5
        for each, mean in zip((one, other), means, strict=True)
    ]
    apart = (means[0] - means[1]).square().sum()
    spread = sum(each.square().sum() for each in scaled)
    shared = torch.linalg.svdvals(scaled[0] @ scaled[1].T).sum()
    return max(0.0, float(apart + spread - 2 * shared))
