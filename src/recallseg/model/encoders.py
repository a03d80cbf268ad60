"""The encoder E of the paper: a timm CNN without its head, at a chosen output stride."""

import recallseg.torchvision_guard  # noqa: F401

import hashlib
from typing import Self

import timm
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from recallseg.errors import RecallsegError
from recallseg.model.weights import create, timm_name

Features = tuple[Tensor, ...]
"""`(high,)` or `(high, low)`: maps (B,C,h,w) at the output stride and at the low-level stride."""

PROBE_SIZE = 128


class Encoder(nn.Module):
    """A timm CNN that turns images (B,3,H,W) into features, BatchNorm statistics frozen.

    `weights` is `imagenet`, `none` or the path of a file. With `low_level_stride` the features
    hold a second, finer map for a skip connection. The layers of BatchNorm keep their statistics
    in training (their affine part still learns) unless `train_batch_norm` is set.
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        name: str = "efficientnet_lite0",
        *,
        output_stride: int = 16,
        weights: str = "imagenet",
        low_level_stride: int | None = None,
        train_batch_norm: bool = False,
    ) -> None:
        super().__init__()
        self.name = name
        self.output_stride = output_stride
        self.low_level_stride = low_level_stride
        self.train_batch_norm = train_batch_norm
        self.frozen = False
        stages = _offered_stages(name, output_stride)
        kept = _kept_stages(name, stages, low_level_stride)
        self.channels = tuple(stages[index][0] for index in reversed(kept))
        self.strides = tuple(stages[index][1] for index in reversed(kept))
        options = {"features_only": True, "output_stride": output_stride, "out_indices": kept}
        self.body = create(name, weights, **options)
        config = timm.get_pretrained_cfg(timm_name(name))
        for key, values in (("mean", config.mean), ("std", config.std)):
            self.register_buffer(key, torch.tensor(values).view(3, 1, 1), persistent=False)
        self.train()

    @property
    def mean_colour(self) -> tuple[int, int, int]:
        """The colour (0-255) that normalises to zero: what a padded image is filled with."""
        red, green, blue = (round(255 * value) for value in self.mean.flatten().tolist())
        return red, green, blue

    def forward(self, images: Tensor) -> Features:
        """Features of images (B,3,H,W), either uint8 or float in [0,1]."""
        if images.dtype != torch.uint8 and not images.is_floating_point():
            raise TypeError(f"Images are uint8, or float in [0,1]; these are {images.dtype}.")
        highest = 255 if images.dtype == torch.uint8 else 1
        normalised = (images.to(self.mean.dtype) / highest - self.mean) / self.std
        maps = self.body(normalised.contiguous(memory_format=torch.channels_last))
        return tuple(reversed(maps))

    def train(self, mode: bool = True) -> Self:
        """Training mode, except for what is frozen: BatchNorm statistics, or everything."""
        super().train(mode and not self.frozen)
        if not self.train_batch_norm:
            for module in self.modules():
                if isinstance(module, _BatchNorm):
                    module.eval()
        return self

    def freeze(self) -> Self:
        """Stop all learning for good, as the paper does after step 0 (sec. 3)."""
        self.frozen = True
        self.requires_grad_(False)
        return self.eval()

    def fingerprint(self) -> str:
        """SHA-256 of all that the features of an image depend on: architecture and every value.

        Equal in any process for equal values, wherever the weights came from, so that stored
        features can be keyed by it.
        """
        tensors = dict(self.named_parameters()) | dict(self.named_buffers())
        digest = hashlib.sha256()
        digest.update(repr((self.name, self.output_stride, self.low_level_stride)).encode())
        for key, tensor in sorted(tensors.items()):
            digest.update(f"{key} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
            values = tensor.detach().cpu().contiguous().flatten()
            digest.update(values.view(torch.uint8).numpy().data)
        return digest.hexdigest()


def _offered_stages(name: str, output_stride: int) -> list[tuple[int, int]]:
    """(channels, stride) of each stage of a timm CNN, verified by a forward pass without data.

    timm's models refuse options in many ways (and some ignore the output stride), so all of them
    end in one sentence here.
    """
    translated = timm_name(name)
    refusal = f"The timm model '{translated}' cannot be an encoder at output stride {output_stride}"
    try:
        with torch.device("meta"):
            body = timm.create_model(translated, features_only=True, output_stride=output_stride)
            maps = body.eval()(torch.empty(1, 3, PROBE_SIZE, PROBE_SIZE))
        stages = list(zip(body.feature_info.channels(), body.feature_info.reduction(), strict=True))
    except Exception as error:
        raise RecallsegError(
            f"{refusal}: timm refuses to build its features ({type(error).__name__}). Use a CNN "
            "such as efficientnet_lite0 or resnet101, and a stride of 8, 16 or 32."
        ) from error
    shapes = [tuple(one.shape) for one in maps]
    expected = [(1, channels, *[PROBE_SIZE // stride] * 2) for channels, stride in stages]
    if shapes != expected or stages[-1][1] != output_stride:
        raise RecallsegError(
            f"{refusal}: a {PROBE_SIZE}-pixel image gives features of the shapes {shapes}. Use a "
            "CNN such as efficientnet_lite0 or resnet101."
        )
    return stages


def _kept_stages(
    name: str, stages: list[tuple[int, int]], low_level_stride: int | None
) -> tuple[int, ...]:
    """Indices of the stages whose maps are the features, the low-level one first."""
    high = len(stages) - 1
    if low_level_stride is None:
        return (high,)
    lower = [stride for _, stride in stages[:high]]
    if low_level_stride not in (4, 8) or low_level_stride not in lower:
        raise RecallsegError(
            f"'{name}' has no low-level features at stride {low_level_stride}; the low-level "
            f"stride is 4, 8 or left out, and its lower stages have the strides {lower}."
        )
    return (lower.index(low_level_stride), high)
