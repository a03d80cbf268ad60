"""The history of a model, read from its run folder: what it learned when, from what, how well."""

from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import Any

from recallseg.runs.folder import RunFolder
from recallseg.runs.taught_folder import TaughtFolder


def model_history(path: Path) -> dict[str, Any]:
    """Everything that a run folder records about its model, as JSON values."""
    folder = TaughtFolder.existing(path)
    config, classes, result = folder.config, folder.learned(), folder.result
    stored = any(step.stored_masks() for _, step in folder.steps())
    return {
        "folder": str(path),
        "method": config.method.name,
        "dataset": config.data.name,
        "scenario": config.scenario.spec,
        "setup": config.scenario.setup,
        "seed": config.seed,
        "encoder": config.model.encoder,
        "longer_side": config.views.longer_side,
        "measured_on": config.data.val_root and str(config.data.val_root),
        "seconds": result and result["seconds"],
        "finished": result is not None,
        "keeps_photos": stored or bool(result and result["keeps_photos"]),
        "steps": [
            _step(folder, index, names, photos)
            for index, (names, photos) in enumerate(
                zip_longest(classes["steps"], classes.get("photos", ()))
            )
        ],
        "replay": _replay(folder),
        "bytes": _size(folder.path),
    }


def _step(folder: TaughtFolder, index: int, names: list[str], photos: int | None) -> dict[str, Any]:
    step, metrics, call = folder.step(index), folder.scores(index), folder.call(index)
    return {
        "step": index,
        "classes": names,
        "refined": folder.learned().get("refined", {}).get(str(index), []),
        "learned": index in folder.finished_steps(),
        "seconds": call and call["seconds"],
        "own_encoder": step.encoder.is_file(),
        "photos": photos,
        "stored_photos": len(step.stored_masks()),
        "miou": metrics and metrics["miou"],
        "bytes": _size(step.path),
    }


def _replay(folder: RunFolder) -> list[dict[str, Any]]:
    """Replay images by source and licence: how many were collected, and how many were used."""
    collected: Counter[tuple[str, str]] = Counter()
    used: Counter[tuple[str, str]] = Counter()
    for entry in folder.replay_images():
        kind = entry.get("source", ""), entry.get("licence", "")
        collected[kind] += 1
        used[kind] += entry.get("rejected") is None
    return [
        {"source": source, "licence": licence, "images": number, "used": used[source, licence]}
        for (source, licence), number in sorted(collected.items())
    ]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
