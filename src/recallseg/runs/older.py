"""Configurations of run folders from before sources had sections of their own."""

from typing import Any

SETTINGS_OF_SOURCES = {
    "folder": ("path", "collection", "match", "queries"),
    "web": ("site", "base_url", "interval", "allow_hosts", "match", "queries"),
    "gan": (
        "path",
        "classifier",
        "map_by",
        "map_apart",
        "map_photos",
        "truncation",
        "side",
    ),
}
"""Which settings of `replay` were about which source."""

FILTERS = ("present", "min_area", "max_area", "min_confidence")
"""Settings of `replay` that are now in `replay.filters`."""


def as_written_today(values: dict[str, Any]) -> dict[str, Any]:
    """The settings of a run folder in today's layout; those in today's layout stay as they are."""
    replay = values.get("replay") or {}
    if "present" not in replay:
        return values
    moved = {*FILTERS, *(name for names in SETTINGS_OF_SOURCES.values() for name in names)}
    today = {name: value for name, value in replay.items() if name not in moved}
    today["filters"] = {name: replay[name] for name in FILTERS if name in replay}
    if names := SETTINGS_OF_SOURCES.get(str(replay.get("source"))):
        today[replay["source"]] = {name: replay[name] for name in names if name in replay}
    if replay.get("source") == "folder":
        today["folder"]["title"] = "Web"
    return values | {"replay": today}
