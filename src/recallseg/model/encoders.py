"""The encoder E of the paper: a timm CNN without its head, at a chosen output stride."""

import recallseg.torchvision_guard  # noqa: F401

import hashlib
from functools import cache
from typing import Any, Self

import timm
import torch
from timm.layers import Conv2dSame
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from recallseg.errors import RecallsegError
from recallseg.model.geometry import GEOMETRY, is_centred, pad_to_cells, to_finer
from recallseg.model.weights import create, timm_name

PROBE_SIZE = 129


class Encoder(nn.Module):
    """A timm CNN that turns images (B,3,H,W) into features (B,channels,h,w), at `stride`.

    Images are padded to k·`coarsest`+1 pixels, `coarsest` being the stride of its last stage, so
    that cells lie where `geometry` says, for every size of an image. `weights` is `imagenet`,
    `none` or the path of a file. The features are those of the last stage; with `finest`, a
    stride, those of all stages from there up, side by side at the finest of them, which gives
    small encoders finer features than their last stage has. The layers of BatchNorm keep their
    statistics in training (their affine part still learns) unless `train_batch_norm` is set.
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
    ) -> None:
        super().__init__()
        self.architecture = (name, output_stride, finest, GEOMETRY)
        self.train_batch_norm = train_batch_norm
        self.frozen = False
        self._shapes: dict[int, tuple[int, ...]] = {}
        self._hashed: tuple[list[tuple[int, int]], str] | None = None
        stages = _offered_stages(name, output_stride)
        kept = _kept_stages(name, stages, finest) if finest else (len(stages) - 1,)
        options = {"features_only": True, "output_stride": output_stride, "out_indices": kept}
        self.body = _pad_evenly(create(name, weights, **options))
        self.channels = sum(stages[index][0] for index in kept)
        self.stride, self.coarsest = stages[kept[0]][1], output_stride
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
        maps = self.body(padded.contiguous(memory_format=torch.channels_last))
        size = (maps[0].shape[-2], maps[0].shape[-1])
        return torch.cat([maps[0], *(to_finer(each, size) for each in maps[1:])], dim=1)

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


@cache
def _offered_stages(name: str, output_stride: int) -> list[tuple[int, int]]:
    """(channels, stride) of each stage of a timm CNN, verified by looking at a random image.

    timm's models refuse options in many ways (and some ignore the output stride), so all of them
    end in one sentence here. So does one whose cells lie elsewhere than `geometry` says.
    """
    translated = timm_name(name)
    refusal = f"The timm model '{translated}' cannot be an encoder at output stride {output_stride}"
    advice = "Use a CNN such as efficientnet_lite0 or resnet101"
    try:
        body, maps, mirrored = _probed(translated, output_stride)
        stages = list(zip(body.feature_info.channels(), body.feature_info.reduction(), strict=True))
    except Exception as error:
        raise RecallsegError(
            f"{refusal}: timm refuses to build its features ({type(error).__name__}). {advice}, "
            "and a stride of 8, 16 or 32."
        ) from error
    shapes = [tuple(one.shape) for one in maps]
    cells = [(PROBE_SIZE - 1) // stride + 1 for _, stride in stages]
    expected = [(1, width, n, n) for (width, _), n in zip(stages, cells, strict=True)]
    if shapes != expected or stages[-1][1] != output_stride:
        raise RecallsegError(
            f"{refusal}: a {PROBE_SIZE}-pixel image gives features of the shapes {shapes} instead "
            f"of {expected}. {advice}."
        )
    if not is_centred(maps, mirrored):
        raise RecallsegError(
            f"{refusal}: it looks at places beside the multiples of its strides, so that masks "
            f"would lie beside the things. {advice}."
        )
    return stages


@torch.no_grad()
def _probed(name: str, output_stride: int) -> tuple[Any, list[Tensor], list[Tensor]]:
    """A timm CNN with random symmetric kernels, and its maps of an image and of its mirror."""
    draw = torch.Generator().manual_seed(0)
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        body = timm.create_model(name, features_only=True, output_stride=output_stride).eval()
        for module in body.modules():
            if isinstance(module, nn.Conv2d):
                module.weight.copy_((module.weight + module.weight.flip(2, 3)) / 2)
        image = torch.rand(1, 3, PROBE_SIZE, PROBE_SIZE, generator=draw)
        return body, body(image), body(image.flip(2, 3))


def _pad_evenly(body: nn.Module) -> nn.Module:
    """Give convolutions that pad by the parity of their input the padding of odd inputs.

    timm's `tf_` networks have them. The padding that the geometry needs is the same on both sides,
    and constant, so that nothing has to be copied.
    """
    for module in body.modules():
        if isinstance(module, Conv2dSame):
            module.__class__ = nn.Conv2d
            reach = zip(module.kernel_size, module.dilation, strict=True)
            height, width = ((size - 1) * dilation // 2 for size, dilation in reach)
            module.padding = (height, width)
    return body


def _kept_stages(name: str, stages: list[tuple[int, int]], finest: int) -> tuple[int, ...]:
    """Indices of the stages from a stride up, the finest first."""
    strides = [stride for _, stride in stages]
    if finest not in strides:
        raise RecallsegError(
            f"'{name}' has no stage at stride {finest} for a neck; its stages have the strides "
            f"{sorted(set(strides))}."
        )
    return tuple(index for index, stride in enumerate(strides) if stride >= finest)
