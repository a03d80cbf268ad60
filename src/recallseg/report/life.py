"""The life of a model, as its run folder tells it: what it learned when, from what, how well."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from recallseg.errors import RecallsegError
from recallseg.runs.folder import RunFolder


def life(path: Path) -> dict[str, Any]:
    """Everything that a run folder knows of its model, as JSON values."""
    folder = RunFolder.existing(path)
    config, known = folder.config, folder.read("classes.json")
    if known is None:
        raise RecallsegError(f"{path} holds no model yet: it has no classes.json.")
    result: dict[str, Any] | None = folder.read("result.json")
    stored = any(folder.path.glob("step-*/samples"))
    return {
        "folder": str(path),
        "method": config.method.name,
        "dataset": config.data.name,
        "scenario": config.scenario.spec,
        "setup": config.scenario.setup,
        "seed": config.seed,
        "encoder": config.model.encoder,
        "finished": result is not None,
        "keeps_photos": stored or bool(result and result.get("keeps_photos")),
        "steps": [
            _step(folder, index, names, photos)
            for index, (names, photos) in enumerate(
                zip_longest(known["steps"], known.get("photos", ()))
            )
        ],
        "replay": _replay(folder.path / "replay"),
        "bytes": _size(folder.path),
    }


def _seen(known: dict[str, Any]) -> Iterator[tuple[list[str], int | None]]:
    """The classes of each step, and how many photos it learned from, where that is known."""
    return zip_longest(known["steps"], known.get("photos", ()))


def _step(folder: RunFolder, index: int, names: list[str], photos: int | None) -> dict[str, Any]:
    place = folder.step(index)
    metrics = folder.read(f"step-{index}/metrics.json")
    return {
        "step": index,
        "classes": names,
        "learned": index in folder.finished_steps(),
        "own_encoder": (place / "encoder.safetensors").is_file(),
        "photos": photos,
        "stored_photos": len(list(place.glob("samples/*.mask.png"))),
        "miou": metrics and metrics["miou"],
        "bytes": _size(place),
    }


def _replay(folder: Path) -> list[dict[str, Any]]:
    """Replay images by source and licence: how many came, and how many were used."""
    came: Counter[tuple[str, str]] = Counter()
    used: Counter[tuple[str, str]] = Counter()
    for manifest in sorted(folder.glob("manifest*.jsonl")):
        for entry in _lines(manifest):
            kind = entry.get("source", ""), entry.get("licence", "")
            came[kind] += 1
            used[kind] += entry.get("rejected") is None
    return [
        {"source": source, "licence": licence, "images": number, "used": used[source, licence]}
        for (source, licence), number in sorted(came.items())
    ]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of a file of JSON lines; a line that was cut off is left out."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
