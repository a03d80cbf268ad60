"""The Image Classifier I of the paper, which tells what a generator would call a photo."""

import recallseg.torchvision_guard  # noqa: F401

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import torch
from PIL import Image
from timm.data import ImageNetInfo, resolve_data_config
from torch import Tensor, nn

from recallseg.model.weights import imagenet_classifier


class PhotoClassifier(nn.Module):
    """The Image Classifier I of the paper: photos in, logits (B,C) out, one for each name."""

    mean: Tensor
    std: Tensor

    def __init__(self, network: nn.Module, names: Sequence[str]) -> None:
        """`network` is a timm model with weights, `names` are those of its outputs."""
        super().__init__()
        self.network, self.names = network, tuple(names)
        options = resolve_data_config(model=self.network)
        self.side: int = options["input_size"][-1]
        described: Mapping[str, object] = getattr(self.network, "pretrained_cfg", {})
        self.square = bool(described.get("fixed_input_size"))
        self.register_buffer("mean", torch.tensor(options["mean"]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(options["std"]).view(3, 1, 1), persistent=False)
        self.eval()

    def prepare(self, photo: Image.Image) -> Tensor:
        """The whole photo, undistorted, with about as many pixels as the network's input (3,H,W).

        Cropping or squeezing it to a square lost one or two of the paper's choices on voc-mini.
        Networks that only take squares get one.
        """
        scale = self.side / math.sqrt(photo.width * photo.height)
        size = (max(1, round(photo.width * scale)), max(1, round(photo.height * scale)))
        size = (self.side, self.side) if self.square else size
        resized = photo.convert("RGB").resize(size, Image.Resampling.BICUBIC)
        return torch.from_numpy(np.array(resized)).permute(2, 0, 1)

    def forward(self, photos: Tensor) -> Tensor:
        """Logits (B,C) of prepared photos (B,3,H,W), bytes."""
        logits: Tensor = self.network((photos / 255 - self.mean) / self.std)
        return logits


class ImageNetClassifier(PhotoClassifier):
    """A network trained on ImageNet, whose 1000 classes are those of the public generators."""

    def __init__(self, name: str = "efficientnet_lite0", network: nn.Module | None = None) -> None:
        """`network`, a timm model with weights, stands in for the named one."""
        super().__init__(
            imagenet_classifier(name) if network is None else network, imagenet_names()
        )


@cache
def imagenet_lemmas() -> tuple[tuple[str, ...], ...]:
    """All names of each of ImageNet's 1000 classes, the usual one first, in the weights' order."""
    described = ImageNetInfo("imagenet-1k").label_descriptions()
    return tuple(tuple(text.split(", ")) for text in described)


def imagenet_names() -> tuple[str, ...]:
    """The usual name of each of ImageNet's 1000 classes; two of them occur twice."""
    return tuple(lemmas[0] for lemmas in imagenet_lemmas())


def imagenet_indexes(name: str) -> list[int]:
    """The ImageNet classes that have this among their names; a note in brackets is left out."""
    wanted = re.sub(r"\s*\(.*\)$", "", name).casefold()
    found = enumerate(imagenet_lemmas())
    return [index for index, lemmas in found if wanted in map(str.casefold, lemmas)]
