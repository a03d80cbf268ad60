"""Files of tensors that also tell the names of the classes: safetensors with metadata."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from recallseg.files import atomic_path
from recallseg.gan.released import weights_file

CLASSES = "classes"


def save_named(
    path: Path, tensors: Mapping[str, Tensor], names: Sequence[str], **about: str
) -> None:
    """Write tensors, the class names by id, and what else is to be known, in one move."""
    plain = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(plain, temporary, metadata={CLASSES: json.dumps([*names]), **about})


def read_about(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file; nothing for any other file."""
    if path.suffix != ".safetensors" or not path.is_file():
        return {}
    try:
        with safe_open(path, framework="pt") as file:
            return dict(file.metadata() or {})
    except SafetensorError:
        return {}


def class_names(path: Path) -> tuple[str, ...] | None:
    """The class names that a file tells, or a generator's folder; None where it tells none."""
    try:
        names = json.loads(read_about(weights_file(path)).get(CLASSES, "null"))
    except json.JSONDecodeError:
        return None
    return tuple(map(str, names)) if isinstance(names, list) else None
