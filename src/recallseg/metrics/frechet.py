"""The Fréchet distance between two sets of features (Heusel et al., NeurIPS 2017: FID)."""

import torch
from torch import Tensor


def frechet_distance(one: Tensor, other: Tensor) -> float:
    """‖μ₁-μ₂‖² + tr(Σ₁ + Σ₂ - 2 (Σ₁Σ₂)^½) of features (N,D) and (M,D), as if both were normal.

    With centred features A and B, Σ = AᵀA, and the last trace is the sum of the singular values of
    ABᵀ. That needs no root of a matrix, and holds for fewer features than dimensions.
    """
    means = [features.double().mean(0) for features in (one, other)]
    scaled = [
        (features.double() - mean) / max(1, len(features) - 1) ** 0.5
        for features, mean in zip((one, other), means, strict=True)
    ]
    distance = (means[0] - means[1]).square().sum()
    spread = sum(features.square().sum() for features in scaled)
    shared = torch.linalg.svdvals(scaled[0] @ scaled[1].T).sum()
    return max(0.0, float(distance + spread - 2 * shared))
