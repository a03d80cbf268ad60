"""YAML files and `key=value` overrides, read into the schema.

A file may start from others (`extends: base.yaml`, relative to it) and from a preset shipped with
the package (`preset: paper`), as may a preset. What differs from split to split stands in a block
(`by_split: {15-1: …}`). Later values win: preset, extended files, the file, the block of its split,
the overrides. A value stands for itself: OmegaConf's `${…}`, by which the file of a model that one
received could read the environment, is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import GrammarParseError, OmegaConfBaseException
from pydantic import ValidationError

from recallseg.config.problems import problems
from recallseg.config.schema import RunConfig
from recallseg.errors import RecallsegError, unknown_name

NEXT_LINE = "\n  "
INTERPOLATION = "${"

Values = dict[str, Any]


def load_config(
    path: Path,
    overrides: Sequence[str] = (),
    *,
    over: Sequence[Path] = (),
    translate: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> RunConfig:
    """Read a YAML file with everything it builds on, apply `key=value` overrides, and validate.

    Files in `over` are laid over the first one, before the overrides. `translate` brings settings
    in an older layout to today's, before anything is laid over them.
    """
    own, *others = (_read_layers(each) for each in (path, *over))
    files = _merged(translate(own), *others)
    by_split = files.pop("by_split", None) or {}
    words = _overrides(overrides)
    scenario = _merged(files, words).get("scenario")
    split = scenario.get("spec") if isinstance(scenario, dict) else None
    blocks = {str(name): block or {} for name, block in _settings(by_split, "by_split").items()}
    block = _settings(blocks.get(str(split), {}), f"by_split.{split}")
    return validate(_merged(files, block, words), str(path))


def load_preset(name: str, overrides: Sequence[str] = ()) -> RunConfig:
    """A preset as it is shipped, with `key=value` overrides."""
    return validate(_merged(_preset(name), _overrides(overrides)), f"the preset '{name}'")


def validate(values: Any, where: str) -> RunConfig:  # noqa: ANN401
    """Check plain values against the schema; all errors are told at once, with their paths."""
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise RecallsegError(
            f"{where} is not a valid configuration:\n  {problems(error, between=NEXT_LINE)}"
        ) from None


def dump_config(config: RunConfig) -> str:
    """The configuration as YAML that `load_config` reads back to an equal one."""
    text: str = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    return text


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as `part.name: value`."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        found |= flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return found


def preset_names() -> tuple[str, ...]:
    """The presets shipped with the package."""
    folder = resources.files("recallseg") / "presets"
    return tuple(sorted(Path(item.name).stem for item in folder.iterdir() if item.is_file()))


def _read_layers(path: Path, below: tuple[Path, ...] = ()) -> Values:
    """A file merged over its preset and the files it extends."""
    if path.resolve() in below:
        raise RecallsegError(f"{path} extends itself.")
    with _readable(str(path)):
        own = _settings(_plain(OmegaConf.load(path), str(path)), str(path))
    parents = own.pop("extends", None) or []
    preset = own.pop("preset", None)
    layers = [_preset(preset)] if preset else []
    for parent in _names_of_files(parents, path):
        layers.append(_read_layers(path.parent / parent, (*below, path.resolve())))
    return _merged(*layers, own)


def _names_of_files(parents: Any, path: Path) -> list[str]:  # noqa: ANN401
    names = parents if isinstance(parents, list) else [parents]
    if not all(isinstance(name, str) for name in names):
        raise RecallsegError(
            f"{path} extends {parents!r}; write the name of a file, or a list of names."
        )
    return names


def _preset(name: str) -> Values:
    if name not in preset_names():
        raise unknown_name("preset", name, preset_names())
    text = (resources.files("recallseg") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    own = _settings(_plain(OmegaConf.create(text), name), name)
    below = own.pop("preset", None)
    return _merged(_preset(below), own) if below else own


def _overrides(overrides: Sequence[str]) -> Values:
    for override in overrides:
        if "=" not in override or override.startswith("="):
            raise RecallsegError(f"'{override}' is not an override; write key=value.")
        _refuse_interpolation(override, f"The override '{override}'")
    try:
        return _settings(_plain(OmegaConf.from_dotlist(list(overrides)), "override"), "override")
    except (yaml.YAMLError, OmegaConfBaseException) as error:
        raise RecallsegError(f"An override cannot be read: {error}") from error


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Turn what can be wrong with a file into a sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise RecallsegError(f"The configuration {path} does not exist.") from error
    except GrammarParseError:
        _refuse_interpolation(INTERPOLATION, path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, OmegaConfBaseException) as error:
        raise RecallsegError(f"{path} is not readable YAML: {error}") from error


def _plain(config: Any, where: str) -> Any:  # noqa: ANN401
    """What was parsed as plain values, none of which stands for another."""
    values = OmegaConf.to_container(config, resolve=False)
    _refuse_interpolation(values, where)
    return values


def _refuse_interpolation(values: Any, where: str) -> None:  # noqa: ANN401
    if isinstance(values, str) and INTERPOLATION in values:
        raise RecallsegError(
            f"{where} holds '{INTERPOLATION}'; settings cannot refer to others or to the "
            "environment, so write the value itself."
        )
    if isinstance(values, dict):
        for key, value in values.items():
            _refuse_interpolation(key, where)
            _refuse_interpolation(value, where)
    elif isinstance(values, list):
        for value in values:
            _refuse_interpolation(value, where)


def _settings(values: Any, where: str) -> Values:  # noqa: ANN401
    if not isinstance(values, dict):
        raise RecallsegError(f"{where} must hold settings as `key: value` lines.")
    return values


def _merged(*layers: Values) -> Values:
    """Nested settings laid over each other, later ones last; a list replaces a list."""
    merged: Values = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, dict):
                below = merged.get(key)
                value = _merged(below if isinstance(below, dict) else {}, value)
            merged[key] = value
    return merged
