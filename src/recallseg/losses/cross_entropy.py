"""The cross-entropy objective of the paper's eq. 1."""

import torch
from torch.nn import functional

VOID = 255


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean −log p(label) over pixels that are not void; zero where all are.

    `logits` is (B, C, H, W), `labels` (B, H, W) with values below C or 255.
    """
    total = functional.cross_entropy(logits, labels.long(), ignore_index=VOID, reduction="sum")
    return total / (labels != VOID).sum().clamp(min=1)
