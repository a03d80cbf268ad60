"""Convolutions that a CPU computes quickly; they equal PyTorch's but for rounding."""

import torch
from torch import Tensor


def is_plain_on_cpu(*tensors: Tensor) -> bool:
    """Whether numbers are of single precision, and what is made of them will be."""
    plain = all(each.dtype == torch.float32 and each.device.type == "cpu" for each in tensors)
    return plain and not torch.is_autocast_enabled("cpu")
