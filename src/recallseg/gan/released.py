"""A generator as people have it: a folder with `config.json` and its weights."""

import json
from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from recallseg.config import problems
from recallseg.errors import RecallsegError
from recallseg.gan.biggan_config import BigGANConfig

CONFIG = "config.json"
SUFFIXES = (".safetensors", ".pth", ".pt", ".bin")
"""Of weights, the preferred one first: publishers often give the same in two formats."""


def weights_file(path: Path) -> Path:
    """The file of weights in a generator's folder; a path that is no folder is given back."""
    if not path.is_dir():
        return path
    for suffix in SUFFIXES:
        files = sorted(file for file in path.iterdir() if file.suffix == suffix)
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise RecallsegError(f"{path} holds several files of weights: {names}; name one.")
        if files:
            return files[0]
    raise RecallsegError(
        f"{path} holds no weights of a generator; expected one file that ends in "
        f"{', '.join(SUFFIXES)}, such as pytorch_model.bin, beside {CONFIG}."
    )


def read_config(folder: Path) -> BigGANConfig:
    """The architecture that a folder's `config.json` describes, as the public files do."""
    files = sorted(file for file in folder.iterdir() if file.name.endswith(CONFIG))
    if len(files) != 1:
        found = f"several: {', '.join(file.name for file in files)}" if files else "none"
        raise RecallsegError(
            f"{folder} must hold one {CONFIG} beside the generator's weights; it has {found}."
        )
    try:
        values = json.loads(files[0].read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecallsegError(f"{files[0]} cannot be read as JSON: {error}.") from error
    return _described(values, files[0])


def _described(values: object, file: Path) -> BigGANConfig:
    names = {field.name for field in fields(BigGANConfig)}
    if not isinstance(values, dict) or not {"output_dim", "layers"} <= values.keys():
        raise RecallsegError(
            f"{file} describes no BigGAN-deep generator: it lacks output_dim or layers."
        )
    told = {name: value for name, value in values.items() if name in names}
    try:
        return TypeAdapter(BigGANConfig).validate_python(told)
    except ValidationError as error:
        raise RecallsegError(
            f"{file} describes no BigGAN-deep generator: {problems(error)}."
        ) from None
    except RecallsegError as error:
        raise RecallsegError(f"{file} describes no BigGAN-deep generator. {error}") from None
