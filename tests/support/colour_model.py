"""A model with a real encoder that answers to red: nobody has to train it, and it cannot be wrong.

Strided convolutions blur and all others hand on what they get, so that a feature is the redness
around its cell. Where masks then lie is a matter of geometry alone.
"""

import math

import numpy as np
import torch
from PIL import Image
from torch import nn

from recallseg.model import DeepLabV2, Encoder, Segmenter
from recallseg.model.tail import Tail

RED = (255, 0, 0)


def colour_model(encoder: Encoder, neck: int | None = None, tail: Tail | None = None) -> Segmenter:
    """Background, and whatever is red."""
    decoder = DeepLabV2(encoder.channels, 2, dilations=(1,), neck=neck, tail=tail)
    with torch.no_grad():
        for module in (*encoder.modules(), *decoder.modules()):
            if isinstance(module, nn.Conv2d):
                _hand_on(module)
            elif isinstance(module, nn.BatchNorm2d):
                module.reset_running_stats()
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
        if decoder.neck is not None:  # every stage has the same say, however many channels it has
            widths = encoder.body.feature_info.channels()
            widths += [tail.channels - encoder.channels] if tail else []
            shares = torch.cat([torch.full((width,), 1 / width) for width in widths])
            decoder.neck.weight.copy_(
                (shares / len(widths)).view(1, -1, 1, 1).expand_as(decoder.neck.weight)
            )
        stem = next(m for m in encoder.body.modules() if isinstance(m, nn.Conv2d))
        if any(isinstance(module, nn.MaxPool2d) for module in encoder.body.modules()):
            _hand_on(stem, late=1)  # pooling three around the first of two looks a pixel early
        stem.weight *= torch.tensor([3e-3, 0, 0]).view(1, 3, 1, 1)  # far from where ReLU6 clips
        encoder.eval()
        ground, red = (
            decoder.narrowed(encoder(_plain(colour))).mean()
            for colour in (encoder.mean_colour, RED)
        )
        [branch] = decoder.branches
        branch.weight[0].zero_()
        branch.bias[1] = -(ground + red) / 2
        branch.weight *= 1000
        branch.bias *= 1000
    return Segmenter(encoder, decoder).eval().requires_grad_(False)


def _hand_on(conv: nn.Conv2d, late: int = 0) -> None:
    """Let a convolution give the mean of its input channels, blurred if it makes them coarser.

    It then looks at the middle of the two pixels that it makes one of, or `late` pixels further.
    """
    side = conv.kernel_size[0]
    row = torch.zeros(side)
    if conv.stride[0] == 1:
        row[side // 2] = 1
    elif side > 1:  # a strided 1×1 is a shortcut, which would only alias
        before = (side - conv.stride[0]) // 2 if conv.padding[0] == 0 else conv.padding[0]
        first = before + late  # the middle lies between this tap and the next
        half = min(first + 1, side - 1 - first)
        binomial = [math.comb(2 * half - 1, place) for place in range(2 * half)]
        row[first + 1 - half : first + 1 + half] = torch.tensor(binomial) / 2 ** (2 * half - 1)
    conv.weight.copy_((row[:, None] * row[None] / conv.weight.shape[1]).expand_as(conv.weight))
    if conv.bias is not None:
        conv.bias.zero_()


def _plain(colour: tuple[int, int, int]) -> torch.Tensor:
    return torch.tensor(colour, dtype=torch.uint8).view(1, 3, 1, 1).expand(1, 3, 128, 128)


def disc_photo(
    height: int, width: int, ground: tuple[int, int, int]
) -> tuple[Image.Image, np.ndarray]:
    """A red disc on plain ground, off the middle, and its mask."""
    rows, columns = np.mgrid[:height, :width]
    mask = np.hypot(rows - 0.46 * height, columns - 0.54 * width) <= 0.33 * min(height, width)
    photo = np.where(mask[..., None], RED, ground).astype(np.uint8)
    return Image.fromarray(photo), mask.astype(np.uint8)


def centre(mask: np.ndarray) -> np.ndarray:
    """The mean place (row, column) of the disc's pixels."""
    assert mask.any()
    return np.argwhere(mask == 1).mean(axis=0)
