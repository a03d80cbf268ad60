"""Files of tensors that also tell the names of the classes: safetensors with metadata."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from recallseg.checksums import DamagedError
from recallseg.files import atomic_path
from recallseg.gan.released import weights_file

ABOUT, CLASSES, SUM = "about", "classes", "sha256"
"""All metadata is one JSON text: safetensors writes several in an order of chance."""


def save_named(
    path: Path, tensors: Mapping[str, Tensor], names: Sequence[str], **about: str
) -> None:
    """Write tensors, the class names by id, what else is to be known, and a checksum of all that.

    The file appears in one move, and the same content gives the same bytes.
    """
    plain = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
    told = {CLASSES: json.dumps([*names]), **about}
    told[SUM] = _checksum(plain, told)
    with atomic_path(path) as temporary:
        save_file(plain, temporary, metadata={ABOUT: json.dumps(told, sort_keys=True)})


def load_named(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file; those that `save_named` wrote are checked."""
    tensors, about = load_file(path), read_about(path)
    noted = about.pop(SUM, None)
    if noted is not None and noted != _checksum(tensors, about):
        raise DamagedError(
            f"{path} is damaged: it is not what recallseg wrote there. Put back a copy of it, or "
            "delete it and let `recallseg gan train` make it again."
        )
    return tensors


def read_about(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file; nothing for any other file."""
    if path.suffix != ".safetensors" or not path.is_file():
        return {}
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
        return dict(json.loads(metadata[ABOUT])) if ABOUT in metadata else metadata
    except (SafetensorError, ValueError, TypeError):
        return {}


def class_names(path: Path) -> tuple[str, ...] | None:
    """The class names that a file tells, or a generator's folder; None where it tells none."""
    try:
        names = json.loads(read_about(weights_file(path)).get(CLASSES, "null"))
    except json.JSONDecodeError:
        return None
    return tuple(map(str, names)) if isinstance(names, list) else None


def _checksum(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> str:
    """SHA-256 of tensors, with their names, types and shapes, and of what is told of them."""
    total = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for key, tensor in sorted(tensors.items()):
        total.update(json.dumps([key, str(tensor.dtype), [*tensor.shape]]).encode())
        total.update(tensor.numpy().tobytes())
    return total.hexdigest()
