"""Run folders of version 0.1, which did not say all that those of today say."""

from typing import Any

from recallseg.config import RunConfig
from recallseg.runs.records import RowRecord

METHODS = {
    "ft": "FT",
    "store_replay": "S&R",
    "lwf": "LwF",
    "lwf_mc": "LwF-MC",
    "ilt": "ILT",
    "cil": "CIL",
    "mib": "MiB",
    "sdr": "SDR",
    "recall": "RECALL",
    "joint": "Joint",
}
"""The methods that there were, in the order of the paper's tables, as it calls them."""

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
    values = dict(values)
    if values.pop("tensorboard", False):
        values["track"] = ["tensorboard"]
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


def row_of(config: RunConfig) -> RowRecord:
    """The row of a table that a run belongs into, for folders that do not say it."""
    name, replay, settings = config.method.name, config.replay, config.replay.settings
    inpaints = config.method.inpaint if config.method.inpaint is not None else name == "recall"
    place = list(METHODS).index(name) if name in METHODS else len(METHODS)
    title = METHODS.get(name, name)
    if name == "recall":
        alone = "Inpainting" if inpaints else "FT"
        with_replay = "RECALL ({})" if inpaints else "{} only"
    else:
        alone = title
        with_replay = title + (" + naive ({})" if replay.labels == "previous" else " + ours ({})")
    title = with_replay.format(settings.title) if settings else alone
    return {"title": title, "place": [place, settings is not None, inpaints]}
