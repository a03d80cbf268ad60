"""YAML files and `key=value` overrides, read into the schema.

A file may start from others (`extends: base.yaml`, relative to it) and from a preset shipped with
the package (`preset: paper`), as may a preset. What differs from split to split stands in a block
(`by_split: {15-1: …}`). Later values win: preset, extended files, the file, the block of its split,
the overrides.
"""

from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from recallseg.config.problems import problems
from recallseg.config.schema import RunConfig
from recallseg.errors import RecallsegError, unknown_name

NEXT_LINE = "\n  "


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
    own = _as_dict(OmegaConf.create(translate(OmegaConf.to_container(own))))  # type: ignore[arg-type]
    files = _as_dict(OmegaConf.merge(own, *others))
    by_split = files.pop("by_split", None) or {}
    words = _overrides(overrides)
    split = OmegaConf.select(OmegaConf.merge(files, words), "scenario.spec")
    merged = OmegaConf.merge(files, by_split.get(split) or {}, words)
    return validate(OmegaConf.to_container(merged, resolve=True), str(path))


def load_preset(name: str, overrides: Sequence[str] = ()) -> RunConfig:
    """A preset as it is shipped, with `key=value` overrides."""
    merged = OmegaConf.merge(_preset(name), _overrides(overrides))
    return validate(OmegaConf.to_container(merged, resolve=True), f"the preset '{name}'")


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


def _read_layers(path: Path, below: tuple[Path, ...] = ()) -> DictConfig:
    """A file merged over its preset and the files it extends."""
    if path.resolve() in below:
        raise RecallsegError(f"{path} extends itself.")
    try:
        own = OmegaConf.load(path)
    except FileNotFoundError as error:
        raise RecallsegError(f"The configuration {path} does not exist.") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError, OmegaConfBaseException) as error:
        raise RecallsegError(f"{path} is not readable YAML: {error}") from error
    if not isinstance(own, DictConfig):
        raise RecallsegError(f"{path} must hold settings as `key: value` lines.")
    parents = own.pop("extends", None) or []
    preset = own.pop("preset", None)
    layers = [_preset(preset)] if preset else []
    for parent in [parents] if isinstance(parents, str) else parents:
        layers.append(_read_layers(path.parent / parent, (*below, path.resolve())))
    return _as_dict(OmegaConf.merge(*layers, own))


def _preset(name: str) -> DictConfig:
    if name not in preset_names():
        raise unknown_name("preset", name, preset_names())
    text = (resources.files("recallseg") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    own = _as_dict(OmegaConf.create(text))
    below = own.pop("preset", None)
    return _as_dict(OmegaConf.merge(_preset(below), own)) if below else own


def _overrides(overrides: Sequence[str]) -> DictConfig:
    for override in overrides:
        if "=" not in override or override.startswith("="):
            raise RecallsegError(f"'{override}' is not an override; write key=value.")
    try:
        return OmegaConf.from_dotlist(list(overrides))
    except (yaml.YAMLError, OmegaConfBaseException) as error:
        raise RecallsegError(f"An override cannot be read: {error}") from error


def _as_dict(config: Any) -> DictConfig:  # noqa: ANN401
    assert isinstance(config, DictConfig)
    return config
