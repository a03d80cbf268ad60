"""Weights on disk: safetensors, written in one move."""

from pathlib import Path

from safetensors import SafetensorError
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


def load_weights(path: Path, module: nn.Module) -> None:
    """Read weights into a module of the same shape."""
    try:
        tensors: dict[str, Tensor] = load_file(check(path))
        module.load_state_dict(tensors)
    except FileNotFoundError as error:
        raise RecallsegError(f"The weights {path} are missing.") from error
    except (SafetensorError, RuntimeError, OSError) as error:
        raise RecallsegError(f"The weights {path} do not fit this model: {error}") from error
