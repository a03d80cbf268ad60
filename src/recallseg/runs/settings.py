"""The settings of a run: which of them decide it, and what a result says of them."""

from pathlib import Path
from typing import Any

from recallseg.config import RunConfig, flat
from recallseg.files import content_key
from recallseg.scenario.lists import lists_key

FREE_SETTINGS = {"checkpoint_seconds", "track", "keep_predictions"}
"""Settings that may change between the parts of an interrupted run without touching its result."""

LISTS = "scenario.lists"
"""Where lists of photos lie may change as well; `classes.json` knows what they held."""

SAID_ELSEWHERE = {"seed", "scenario.spec", "scenario.setup"}
"""Every row of a table names them beside its scores."""

LATER_STEPS = ("increment", "helper", "replay")
"""Parts that decide nothing in a run that has a single step."""

PLACES = {"data.root", "data.val_root"}
"""Where photos lie on one machine."""


def folder_name(path: Path, config: RunConfig) -> str:
    """A folder of its own for every file, split, seed and set of overrides; the same for the same.

    Other settings than those in the name are told apart by the letters at its end; lists of photos
    by what they hold. Settings at their defaults do not count, so that a setting that is new in
    this version leaves the names of runs as they were, nor do those of later steps where there are
    none.
    """
    free = FREE_SETTINGS | {*_without_effect(config)}
    settings = config.model_dump(mode="json", exclude=free, exclude_defaults=True)
    if config.scenario.lists is not None:
        settings["scenario"]["lists"] = lists_key(config.scenario.lists)
    words = (path.resolve().parent.name, path.stem, config.scenario.spec, f"s{config.seed}")
    return "-".join([*words, content_key(settings)[:6]])


def differences(one: RunConfig, other: RunConfig) -> list[str]:
    """The names of settings that tell two runs apart."""
    a, b = flat(one.model_dump(mode="json")), flat(other.model_dump(mode="json"))
    free = FREE_SETTINGS | ({LISTS} if a[LISTS] and b[LISTS] else set())
    unused = set(_without_effect(one)) & set(_without_effect(other))
    keys = sorted(key for key in a.keys() | b.keys() if key.split(".")[0] not in unused)
    return [key for key in keys if a.get(key) != b.get(key) and key not in free]


def _without_effect(config: RunConfig) -> tuple[str, ...]:
    """Parts of the settings that change nothing: joint training learns all classes at once."""
    return LATER_STEPS if config.method.name == "joint" else ()


def told_settings(config: RunConfig) -> dict[str, Any]:
    """All settings that decide a result, as `part.name: value`; of a path its name alone."""
    settings = flat(config.model_dump(mode="json", exclude=FREE_SETTINGS))
    left_out = SAID_ELSEWHERE | PLACES
    return {key: _told(value) for key, value in settings.items() if key not in left_out}


def shared_settings(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """Those that all have, with the same value."""
    first, *others = settings or [{}]
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }


def other_settings(settings: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Those that are not among the shared ones."""
    return {key: value for key, value in settings.items() if key not in shared}


def _told(value: Any) -> Any:  # noqa: ANN401
    is_path = isinstance(value, str) and Path(value).is_absolute()
    return Path(value).name if is_path else value
