"""What a result says of the settings that it was made with, whatever the defaults become."""

from pathlib import Path
from typing import Any

from recallseg.config import RunConfig, flat
from recallseg.runs.folder import FREE_SETTINGS

SAID_ELSEWHERE = {"seed", "scenario.spec", "scenario.setup"}
"""Every row of a table names them beside its scores."""

PLACES = {"data.root", "data.val_root"}
"""Where photos lie on one machine."""


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
