"""The last stages of a network, where they learn on with every decoder instead of the encoder."""

from typing import Self

import torch
from torch import Tensor, nn

from recallseg.model.geometry import side_by_side
from recallseg.model.networks import (
    batch_norms,
    build_stages,
    kept_stages,
    offered_stages,
    stages_after,
)


class Tail(nn.Module):
    """The stages of a timm CNN after the one that its encoder ends with.

    Features (B,C,h,w) of the stage `finest` become those of it and of all later stages, side by
    side, (B,channels,h,w): what an encoder with its tail would give. BatchNorm keeps its
    statistics, as in encoders.
    """

    def __init__(self, name: str, *, output_stride: int, finest: int, weights: str) -> None:
        super().__init__()
        offered = offered_stages(name, output_stride)
        kept = kept_stages(name, offered, finest)
        body = build_stages(name, output_stride, weights, kept)
        stages = [offered[index] for index in kept]
        self.stages = nn.ModuleList(stages_after(name, body, stages))
        self.channels = sum(stage.channels for stage in stages)
        self.train()

    def forward(self, features: Tensor) -> Tensor:
        """(B,channels,h,w) of (B,C,h,w)."""
        return side_by_side(self.maps(features))

    def maps(self, features: Tensor) -> list[Tensor]:
        """The map (B,C_i,h_i,w_i) of each stage, the finest first."""
        maps = [features.contiguous(memory_format=torch.channels_last)]
        for stage in self.stages:
            maps.append(stage(maps[-1]))
        return maps

    def train(self, mode: bool = True) -> Self:
        """Training mode, except for the statistics of BatchNorm."""
        super().train(mode)
        for module in batch_norms(self):
            module.eval()
        return self
