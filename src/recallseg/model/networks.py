"""timm CNNs as a row of stages, each coarser than the one before, and where they can be cut."""

import recallseg.torchvision_guard  # noqa: F401

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import timm
import torch
import torch.nn.functional as F
from timm.layers import Conv2dSame
from timm.models._features import FeatureListNet
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from recallseg.errors import RecallsegError
from recallseg.model.cpu.depthwise import WideDepthwiseConv, depthwise, is_wide_depthwise
from recallseg.model.cpu.pointwise import PointwiseConv, is_pointwise
from recallseg.model.weights import create, timm_name

PROBE_SIZE = 128


class Stage(NamedTuple):
    """A part of a timm CNN; each stage is coarser than the one before."""

    module: str
    """The name of its last module."""
    channels: int
    stride: int


@cache
def offered_stages(name: str, output_stride: int) -> list[Stage]:
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
        if is_wide_depthwise(self):
            return depthwise(padded, self.weight, self.stride[0], (0, 0))
        return F.conv2d(padded, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)


def _own_convolutions(body: nn.Module) -> nn.Module:
    """Let convolutions that pad by the size of their input pad all inputs alike, and wide depthwise
    and 1×1 ones be quick on a CPU."""
    for module in body.modules():
        if isinstance(module, Conv2dSame):
            module.__class__ = PaddedConv
        elif type(module) is nn.Conv2d and is_wide_depthwise(module):
            module.__class__ = WideDepthwiseConv
        elif is_pointwise(module):
            module.__class__ = PointwiseConv
    return body


def kept_stages(name: str, stages: list[Stage], finest: int) -> tuple[int, ...]:
    """Indices of the stages from a stride up, the finest first."""
    strides = [stage.stride for stage in stages]
    if finest not in strides:
        raise RecallsegError(
            f"'{name}' has no stage at stride {finest} for a neck; its stages have the strides "
            f"{sorted(set(strides))}."
        )
    return tuple(index for index, stride in enumerate(strides) if stride >= finest)


def build_stages(name: str, output_stride: int, weights: str, kept: Sequence[int]) -> nn.Module:
    """A timm CNN that gives the maps of some of its stages, and pads all images alike."""
    options = {"features_only": True, "output_stride": output_stride, "out_indices": tuple(kept)}
    return _own_convolutions(create(name, weights, **options))


def up_to(body: nn.Module, stage: Stage) -> nn.Module:
    """A network that gives the map of one stage, without the modules after it."""
    blocks = getattr(body, "blocks", None)
    if isinstance(blocks, nn.Sequential):
        body.blocks = blocks[: _place(body, stage) + 1]
    return body


def stages_after(name: str, body: nn.Module, stages: Sequence[Stage]) -> list[nn.Sequential]:
    """The modules between each two stages of a network that gives the maps of all of them."""
    if not (hasattr(body, "blocks") or isinstance(body, FeatureListNet)):
        raise RecallsegError(
            f"'{name}' cannot be cut in two for model.tail=decoder; use an EfficientNet such as "
            "efficientnet_lite0, a ResNet, or leave model.tail out."
        )
    row = list(_row(body).values())
    places = [_place(body, stage) for stage in stages]
    return [nn.Sequential(*row[start + 1 : end + 1]) for start, end in pairwise(places)]


def _row(body: nn.Module) -> dict[str, nn.Module]:
    """The modules of a network that follow one another, by name."""
    if isinstance(body, FeatureListNet):
        return dict(body.items())
    blocks = body.get_submodule("blocks")
    return {f"blocks.{place}": block for place, block in enumerate(blocks.children())}


def _place(body: nn.Module, stage: Stage) -> int:
    """Where a stage ends among the modules that follow one another."""
    names = [name.replace(".", "_") for name in _row(body)]
    return names.index(stage.module.replace(".", "_"))


def batch_norms(module: nn.Module) -> list[_BatchNorm]:
    """The layers of BatchNorm inside of a module."""
    return [inner for inner in module.modules() if isinstance(inner, _BatchNorm)]
