"""Generators from files, and the images that they make for a class (paper, eq. gan)."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from recallseg.errors import RecallsegError
from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.named_tensors import load_named
from recallseg.gan.released import SUFFIXES, read_config, weights_file

NOISE_BOUND = 2.0

State = Mapping[str, Tensor]


def load_generator(path: Path, config: BigGANConfig | None = None) -> BigGAN:
    """The BigGAN-deep generator of a file or folder, in eval mode and without gradients.

    The file holds the public PyTorch weights or what `state_dict` of a `BigGAN` gives; without a
    configuration, resolution, width and classes are told from its tensors, and for a folder from
    the `config.json` in it.
    """
    if path.is_dir():
        path, config = weights_file(path), config or read_config(path)
    state = fold_spectral_norm(_read(path), path)
    with torch.device("meta"):
        generator = BigGAN(config or config_of(state) or BigGANConfig())
    _check_fit(generator, state, path)
    generator.load_state_dict({key: tensor.float() for key, tensor in state.items()}, assign=True)
    return generator.eval().requires_grad_(False)


def fold_spectral_norm(state: State, path: Path) -> dict[str, Tensor]:
    """Divide each `weight_orig` by its spectral norm u·Wv, so that nothing is left to iterate.

    u and v are the stored singular vectors; where v is not stored it follows from u.
    """
    folded = {key: tensor for key, tensor in state.items() if not _is_vector(key, state)}
    for key in [key for key in folded if key.endswith(".weight_orig")]:
        plain = key.removesuffix("_orig")
        matrix = folded[key].float().reshape(len(folded[key]), -1)
        left, right = state.get(f"{plain}_u"), state.get(f"{plain}_v")
        if left is not None and right is None and len(left) == len(matrix):
            right = F.normalize(matrix.T @ left.float(), dim=0)
        if left is None or right is None or (len(left), len(right)) != tuple(matrix.shape):
            raise RecallsegError(
                f"The generator file {path} holds {key} {tuple(matrix.shape)} without singular "
                f"vectors {plain}_u and {plain}_v that fit it; get the file again."
            )
        norm = left.float() @ matrix @ right.float()
        folded[plain] = folded.pop(key).float() / norm
    return folded


def config_of(state: State) -> BigGANConfig | None:
    """The configuration that the shapes of BigGAN-deep's folded tensors tell, or None.

    Which blocks double the resolution is not in the shapes: in BigGAN-deep it is every second.
    """
    try:
        embedded, classes = state["embeddings.weight"].shape
        rows, condition = state["generator.gen_z.weight"].shape
        width = len(state["generator.conv_to_rgb.weight"])
        blocks, attention = _layers_of(state, width)
        first_side = math.isqrt(rows // (width * blocks[0][0]))
        return BigGANConfig(
            output_dim=first_side * 2 ** (len(blocks) // 2),
            first_side=first_side,
            z_dim=condition - embedded,
            class_embed_dim=embedded,
            channel_width=width,
            num_classes=classes,
            layers=tuple((place % 2 == 1, *block) for place, block in enumerate(blocks)),
            attention_layer_position=attention,
            n_stats=len(state["generator.bn.running_means"]),
        )
    except (KeyError, ValueError, IndexError, ZeroDivisionError, RecallsegError):
        return None


def truncated_noise(
    batch: int,
    dim: int = 128,
    truncation: float = 1.0,
    seed: int | Sequence[int] = 0,
    *,
    first: int = 0,
) -> Tensor:
    """Normal noise (batch,dim) cut off at ±2, times the truncation.

    Row i depends on the seed and on `first` + i alone, so noise can be drawn in any batches.
    """
    seeds = [seed] if isinstance(seed, int) else [*seed]
    rows = [np.random.default_rng([*seeds, first + row]).random(dim) for row in range(batch)]
    uniform = torch.from_numpy(np.stack(rows)) if rows else torch.empty(0, dim).double()
    low, high = torch.special.ndtr(torch.tensor([-NOISE_BOUND, NOISE_BOUND]).double())
    noise: Tensor = torch.special.ndtri(low + (high - low) * uniform)
    return (truncation * noise).float()


def sample(
    generator: BigGAN,
    class_id: int,
    count: int,
    *,
    truncation: float = 1.0,
    seed: int = 0,
    batch: int = 8,
) -> Iterator[Tensor]:
    """`count` images (3,H,W) of a class in uint8, each a function of seed, class and its number.

    The batch size only changes rounding: a pixel may differ by one level.
    """
    classes = generator.config.num_classes
    if not 0 <= class_id < classes:
        raise RecallsegError(
            f"The generator has no class {class_id}; its {classes} classes are 0 to {classes - 1}."
        )
    starts = range(0, count, batch)
    sizes = (min(batch, count - first) for first in starts)
    return (
        image
        for first, size in zip(starts, sizes, strict=True)
        for image in _batch(generator, class_id, size, truncation, seed, first)
    )


def to_uint8(images: Tensor) -> Tensor:
    """Images in [-1,1] as bytes: 256 equal steps, as the public package rounds."""
    return ((images + 1) * 128).clamp(0, 255).to(torch.uint8)


@torch.no_grad()
def _batch(
    generator: BigGAN, class_id: int, size: int, truncation: float, seed: int, first: int
) -> Tensor:
    dim = generator.config.z_dim
    noise = truncated_noise(size, dim, truncation, (seed, class_id), first=first)
    noise = noise.to(generator.embeddings.weight.device)
    images: Tensor = generator(
        noise, torch.full((size,), class_id, device=noise.device), truncation
    )
    return to_uint8(images).cpu()


def _read(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name; nothing but tensors is ever unpickled."""
    if path.suffix not in SUFFIXES or not path.is_file():
        raise RecallsegError(
            f"{path} is no generator file; give one that exists and ends in {', '.join(SUFFIXES)}, "
            "or a folder with config.json and such a file."
        )
    try:
        safe = path.suffix == ".safetensors"
        loaded = load_named(path) if safe else torch.load(path, "cpu", weights_only=True)
    except RecallsegError:
        raise
    except Exception as error:  # torch and safetensors raise a dozen kinds for a broken file
        reason = (str(error).splitlines() or [""])[0][:160] or type(error).__name__
        raise RecallsegError(f"The generator file {path} could not be read: {reason}") from error
    if not isinstance(loaded, Mapping):
        raise RecallsegError(f"The generator file {path} holds no dictionary of tensors.")
    return {str(key): tensor for key, tensor in loaded.items() if isinstance(tensor, Tensor)}


def _is_vector(key: str, state: State) -> bool:
    """Whether a key is a spectral norm's vector or the weight that old files keep beside it."""
    stem = re.sub(r"_[uv]$", "", key)
    return stem.endswith(".weight") and f"{stem}_orig" in state


def _layers_of(state: State, width: int) -> tuple[list[tuple[int, int]], int]:
    """Input and output channels of each block, in widths, and the block attention stands before."""
    blocks: list[tuple[int, int]] = []
    attention = -1
    numbers = {
        int(found[1]) for key in state if (found := re.match(r"generator\.layers\.(\d+)", key))
    }
    for number in sorted(numbers):
        name = f"generator.layers.{number}"
        if f"{name}.gamma" in state:
            attention = len(blocks)
            continue
        before, after = state[f"{name}.conv_0.weight"].shape[1], len(state[f"{name}.conv_3.weight"])
        blocks.append((before // width, after // width))
    return blocks, attention


def _check_fit(generator: BigGAN, state: State, path: Path) -> None:
    wanted = {key: tuple(tensor.shape) for key, tensor in generator.state_dict().items()}
    found = {key: tuple(tensor.shape) for key, tensor in state.items()}
    problems = {
        "missing": [key for key in wanted if key not in found],
        "unexpected": [key for key in found if key not in wanted],
        "of another shape": [
            f"{key} {shape} instead of {wanted[key]}"
            for key, shape in found.items()
            if shape != wanted.get(key, shape)
        ],
    }
    if any(problems.values()):
        listed = "; ".join(
            f"{len(keys)} {kind} ({', '.join(keys[:4])}{', …' if len(keys) > 4 else ''})"
            for kind, keys in problems.items()
            if keys
        )
        raise RecallsegError(
            f"The tensors of {path} do not fit a BigGAN-deep generator of "
            f"{generator.config.output_dim} px: {listed}."
        )
