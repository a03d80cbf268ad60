"""The shape of a BigGAN-deep generator: its resolution, widths and layers."""

from dataclasses import dataclass
from itertools import pairwise

from recallseg.errors import RecallsegError, unknown_name

FIRST_SIDE = 4

Layer = tuple[bool, int, int]
"""Whether a block doubles the resolution; its input and output channels in `channel_width`s."""

WIDTHS = {
    32: (16, 8, 4, 1),
    64: (16, 8, 4, 2, 1),
    128: (16, 16, 8, 4, 2, 1),
    256: (16, 16, 8, 8, 4, 2, 1),
    512: (16, 16, 8, 8, 4, 2, 1, 1),
}
"""Channels, in `channel_width`s, at 4×4 and after each doubling of the resolution.

32 px is ours alone: the public package halves channels at most.
"""


def deep_layers(widths: tuple[int, ...]) -> tuple[Layer, ...]:
    """BigGAN-deep's pattern: before each doubling of the resolution, one block that keeps it."""
    return sum((((False, here, here), (True, here, then)) for here, then in pairwise(widths)), ())


@dataclass(frozen=True)
class BigGANConfig:
    """A generator's architecture, field by field as in the public JSON files (here the 128's)."""

    output_dim: int = 128
    z_dim: int = 128
    class_embed_dim: int = 128
    channel_width: int = 128
    num_classes: int = 1000
    layers: tuple[Layer, ...] = deep_layers(WIDTHS[128])
    first_side: int = FIRST_SIDE
    """The resolution that a linear layer draws and blocks enlarge; 4 in the public files. With
    16 a small generator learned shapes much sooner."""
    attention_layer_position: int = 8
    """The block before which attention stands; -1 for no attention."""
    eps: float = 1e-4
    n_stats: int = 51
    """Truncations, evenly spaced from 0 to 1, for which normalisation statistics are stored."""

    def __post_init__(self) -> None:
        """Refuse layers that do not fit together."""
        inputs, outputs = ([layer[side] for layer in self.layers] for side in (1, 2))
        sizes = (self.z_dim, self.class_embed_dim, self.num_classes, self.n_stats, *inputs)
        if min(sizes) < 1:
            raise RecallsegError(
                f"A generator's sizes are at least 1: z_dim {self.z_dim}, class_embed_dim "
                f"{self.class_embed_dim}, num_classes {self.num_classes}, n_stats {self.n_stats}, "
                f"layers' inputs {inputs}."
            )
        if [*outputs] != [*inputs[1:], 1]:
            raise RecallsegError(
                "A generator's layers end at 1 width and each takes what the one before gives, but "
                f"the inputs are {inputs} and the outputs {outputs}."
            )
        side = self.first_side * 2 ** sum(layer[0] for layer in self.layers)
        if side != self.output_dim or self.channel_width < 4:
            raise RecallsegError(
                f"The generator's layers make images of {side} px and its channel width is "
                f"{self.channel_width}; expected {self.output_dim} px and at least 4."
            )

    @classmethod
    def at(
        cls,
        resolution: int,
        *,
        channel_width: int = 128,
        num_classes: int = 1000,
        attention: int | None = None,
        first_side: int = FIRST_SIDE,
    ) -> "BigGANConfig":
        """BigGAN-deep for square images of `resolution` px, as public for 128, 256 and 512.

        `attention` is the resolution that attention works at (0: none; by default 64 px, or half
        of the output's). With fewer channels and classes it is small enough to train oneself.
        """
        if resolution not in WIDTHS:
            raise unknown_name("generator resolution", str(resolution), map(str, WIDTHS))
        sides = [FIRST_SIDE << layer for layer in range(len(WIDTHS[resolution]) - 1)]
        if first_side not in sides:
            raise unknown_name("first resolution", str(first_side), map(str, sides))
        layers = deep_layers(WIDTHS[resolution][sides.index(first_side) :])
        places = {0: -1} | {first_side << at // 2: at for at in range(0, len(layers), 2)}
        side = min(64, resolution // 2) if attention is None else attention
        if side not in places:
            raise unknown_name("attention resolution", str(side), map(str, places))
        return cls(
            resolution,
            channel_width=channel_width,
            num_classes=num_classes,
            layers=layers,
            first_side=first_side,
            attention_layer_position=places[side],
        )
