"""The encoder E of the paper: a timm CNN without its head, at a chosen output stride."""

import recallseg.torchvision_guard  # noqa: F401

import hashlib
from functools import cache
from typing import NamedTuple, Self

import timm
import torch
import torch.nn.functional as F
from timm.layers import Conv2dSame
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from recallseg.errors import RecallsegError
from recallseg.model.geometry import GEOMETRY, pad_to_cells, to_finer
from recallseg.model.weights import create, timm_name

PROBE_SIZE = 128


class Encoder(nn.Module):
    """A timm CNN that turns images (B,3,H,W) into features (B,channels,h,w), at `stride`.

    Images are padded to k·`coarsest` pixels, `coarsest` being the stride of its last stage, so
    that cells lie where `geometry` says, for every size of an image. `weights` is `imagenet`,
    `none` or the path of a file. The features are those of the last stage; with `finest`, a
    stride, those of all stages from there up, side by side at the finest of them, which gives
    small encoders finer features than their last stage has. The layers of BatchNorm keep their
    statistics in training (their affine part still learns) unless `train_batch_norm` is set; then
    these move with `batch_norm_momentum`, by default the network's own. The first `fixed_stages`
    of the network never learn at all.
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
        fixed_stages: int = 0,
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
        self.body = _pad_alike(create(name, weights, **options))
        if batch_norm_momentum is not None:
            for module in self._batch_norms():
                module.momentum = batch_norm_momentum
        self._fixed = _first_stages(name, self.body, stages, fixed_stages)
        for module in self._fixed:
            for parameter in module.parameters(recurse=False):
                parameter.requires_grad_(False)
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
            for module in self._batch_norms():
                module.eval()
        for fixed in self._fixed:
            fixed.training = False
        return self

    def _batch_norms(self) -> list[_BatchNorm]:
        return [module for module in self.modules() if isinstance(module, _BatchNorm)]

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


class Stage(NamedTuple):
    """One of the parts of a timm CNN, each of a coarser stride than the one before."""

    module: str
    """The name of its last module."""
    channels: int
    stride: int


@cache
def _offered_stages(name: str, output_stride: int) -> list[Stage]:
    """The stages of a timm CNN, verified by a forward pass without data.

    timm's models refuse options in many ways (and some ignore the output stride), so all of them
    end in one sentence here. So does one that has not a cell for every square of pixels.
    """
    translated = timm_name(name)
    refusal = f"The timm model '{translated}' cannot be an encoder at output stride {output_stride}"
    try:
        with torch.device("meta"):
            body = timm.create_model(translated, features_only=True, output_stride=output_stride)
            maps = body.eval()(torch.empty(1, 3, PROBE_SIZE, PROBE_SIZE))
        about = body.feature_info
        parts = zip(about.module_name(), about.channels(), about.reduction(), strict=True)
        stages = [Stage(*part) for part in parts]
    except Exception as error:
        raise RecallsegError(
            f"{refusal}: timm refuses to build its features ({type(error).__name__}). Use a CNN "
            "such as efficientnet_lite0 or resnet101, and a stride of 8, 16 or 32."
        ) from error
    shapes = [tuple(one.shape) for one in maps]
    expected = [(1, each.channels, *[PROBE_SIZE // each.stride] * 2) for each in stages]
    if shapes != expected or stages[-1].stride != output_stride:
        raise RecallsegError(
            f"{refusal}: a {PROBE_SIZE}-pixel image gives features of the shapes {shapes}. Use a "
            "CNN such as efficientnet_lite0 or resnet101."
        )
    return stages


class PaddedConv(nn.Conv2d):
    """A convolution that makes its input coarser and pads it as TensorFlow does for even inputs.

    timm's `tf_` networks work the padding out anew for each input. Here inputs are always of even
    sides, so that it is the same for all: one more on the right and below.
    """

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of (B,C,H,W), with H/stride rows and W/stride columns."""
        padding = []
        for side in (1, 0):
            reach = (self.kernel_size[side] - 1) * self.dilation[side] + 1
            before, uneven = divmod(max(reach - self.stride[side], 0), 2)
            padding += [before, before + uneven]
        padded = F.pad(x, padding)
        return F.conv2d(padded, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)


def _pad_alike(body: nn.Module) -> nn.Module:
    """Let convolutions that pad by the size of their input pad all inputs alike."""
    for module in body.modules():
        if isinstance(module, Conv2dSame):
            module.__class__ = PaddedConv
    return body


def _first_stages(name: str, body: nn.Module, stages: list[Stage], count: int) -> list[nn.Module]:
    """Every module of a timm CNN up to the end of its first `count` stages."""
    if count == 0:
        return []
    if count > len(stages):
        raise RecallsegError(
            f"'{name}' has {len(stages)} stages, so model.fixed_stages cannot be {count}."
        )
    last = stages[count - 1].module
    names = [module for module, _ in body.named_modules()]
    ends = {last, last.replace(".", "_")}
    inside = [at for at, each in enumerate(names) if ends & {each, *_parents(each)}]
    return [body.get_submodule(each) for each in names[: inside[-1] + 1]]


def _parents(module: str) -> list[str]:
    """The names of the modules that a module lies in: `a` and `a.b` for `a.b.c`."""
    words = module.split(".")
    return [".".join(words[:count]) for count in range(1, len(words))]


def _kept_stages(name: str, stages: list[Stage], finest: int) -> tuple[int, ...]:
    """Indices of the stages from a stride up, the finest first."""
    strides = [stage.stride for stage in stages]
    if finest not in strides:
        raise RecallsegError(
            f"'{name}' has no stage at stride {finest} for a neck; its stages have the strides "
            f"{sorted(set(strides))}."
        )
    return tuple(index for index, stride in enumerate(strides) if stride >= finest)
