"""The encoder E of the paper: a timm CNN without its head, at a chosen output stride."""

import recallseg.torchvision_guard  # noqa: F401

import hashlib
from typing import Self

import timm
import torch
from torch import Tensor, nn

from recallseg.model.geometry import GEOMETRY, pad_to_cells, side_by_side
from recallseg.model.networks import batch_norms, build_stages, kept_stages, offered_stages, up_to
from recallseg.model.weights import timm_name


class Encoder(nn.Module):
    """A timm CNN that turns images (B,3,H,W) into features (B,channels,h,w), at `stride`.

    Images are padded to k·`coarsest` pixels, `coarsest` being the stride of its last stage, so
    that cells lie where `geometry` says, for every size of an image. `weights` is `imagenet`,
    `none` or the path of a file. The features are those of the last stage; with `finest`, a
    stride, those of all stages from there up, side by side at the finest of them, which gives
    small encoders finer features than their last stage has. With `without_tail`, it ends with the
    stage `finest` and leaves the later stages to decoders (`tail.py`). The layers of BatchNorm keep
    their statistics in training (their affine part still learns) unless `train_batch_norm` is set;
    then these move with `batch_norm_momentum`, by default the network's own.
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        name: str = "efficientnet_lite0",
        *,
        output_stride: int = 16,
        weights: str = "imagenet",
        finest: int | None = None,
        train_batch_norm: bool = False,
        batch_norm_momentum: float | None = None,
        without_tail: bool = False,
    ) -> None:
        super().__init__()
        self.architecture: tuple[object, ...] = (name, output_stride, finest, GEOMETRY)
        self.train_batch_norm = train_batch_norm
        self.frozen = False
        self._shapes: dict[int, tuple[int, ...]] = {}
        self._hashed: tuple[list[tuple[int, int]], str] | None = None
        stages = offered_stages(name, output_stride)
        kept = kept_stages(name, stages, finest) if finest else (len(stages) - 1,)
        if without_tail:
            kept = kept[:1]
            self.architecture = (*self.architecture, "without its tail")
        body = build_stages(name, output_stride, weights, kept)
        self.body = up_to(body, stages[kept[0]]) if without_tail else body
        if batch_norm_momentum is not None:
            for module in batch_norms(self):
                module.momentum = batch_norm_momentum
        self.channels = sum(stages[index].channels for index in kept)
        self.stride, self.coarsest = stages[kept[0]].stride, output_stride
        config = timm.get_pretrained_cfg(timm_name(name))
        for key, values in (("mean", config.mean), ("std", config.std)):
            self.register_buffer(key, torch.tensor(values).view(3, 1, 1), persistent=False)
        self.train()

    @property
    def mean_colour(self) -> tuple[int, int, int]:
        """The colour (0-255) that normalises to zero: what a padded image is filled with."""
        red, green, blue = (round(255 * value) for value in self.mean.flatten().tolist())
        return red, green, blue

    def forward(self, images: Tensor) -> Tensor:
        """Features (B,channels,h,w) of images (B,3,H,W), either uint8 or float in [0,1]."""
        if images.dtype != torch.uint8 and not images.is_floating_point():
            raise TypeError(f"Images are uint8, or float in [0,1]; these are {images.dtype}.")
        highest = 255 if images.dtype == torch.uint8 else 1
        normalised = (images.to(self.mean.dtype) / highest - self.mean) / self.std
        padded = pad_to_cells(normalised, self.coarsest)
        return side_by_side(self.body(padded.contiguous(memory_format=torch.channels_last)))

    @torch.no_grad()
    def feature_shape(self, side: int) -> tuple[int, ...]:
        """The shape (channels,h,w) of the features of a square image."""
        if side not in self._shapes:
            blank = torch.zeros(1, 3, side, side, device=self.mean.device)
            self._shapes[side] = tuple(self(blank).shape[1:])
        return self._shapes[side]

    def train(self, mode: bool = True) -> Self:
        """Training mode, except for what is frozen: BatchNorm statistics, or everything."""
        super().train(mode and not self.frozen)
        if not self.train_batch_norm:
            for module in batch_norms(self):
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
        versions = [(tensor.data_ptr(), tensor._version) for tensor in tensors.values()]
        if self._hashed and self._hashed[0] == versions:
            return self._hashed[1]
        digest = hashlib.sha256()
        digest.update(repr(self.architecture).encode())
        for key, tensor in sorted(tensors.items()):
            digest.update(f"{key} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
            values = tensor.detach().cpu().contiguous().flatten()
            digest.update(values.view(torch.uint8).numpy().data)
        self._hashed = versions, digest.hexdigest()
        return self._hashed[1]
