"""Weights on disk: safetensors, written in one move."""

from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from recallseg.checksums import check
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path


def save_weights(path: Path, module: nn.Module) -> None:
    """Write a module's weights and buffers as safetensors, in one move."""
    tensors = {name: tensor.contiguous() for name, tensor in module.state_dict().items()}
    with atomic_path(path) as temporary:
        save_file(tensors, temporary)


def has_part(path: Path, part: str) -> bool:
    """Whether a file has weights whose names begin with `part`; false if it cannot be read."""
    try:
        with safe_open(path, "pt") as weights:
            names: list[str] = weights.keys()
        return any(name.startswith(part) for name in names)
    except (SafetensorError, OSError):
        return False


def load_weights(path: Path, module: nn.Module, part: str = "") -> None:
    """Read weights into a module of the same shape; of those whose names begin with `part`, if it
    is one of a larger module."""
    try:
        tensors: dict[str, Tensor] = load_file(check(path))
        own = {name[len(part) :]: each for name, each in tensors.items() if name.startswith(part)}
        module.load_state_dict(own)
    except FileNotFoundError as error:
        raise RecallsegError(f"The weights {path} are missing.") from error
    except (SafetensorError, RuntimeError, OSError) as error:
        raise RecallsegError(f"The weights {path} do not fit this model: {error}") from error
