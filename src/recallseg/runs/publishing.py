"""What of a run folder may leave the machine: the model and what is known of it, and no photo."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recallseg.checksums import CHECKSUMS, seal
from recallseg.config import validate
from recallseg.errors import RecallsegError
from recallseg.runs.folder import RunFolder

PUBLISHED = (
    *("config.yaml", "classes.json", "encoder.safetensors", "mapping.json", "result.json"),
    *("README.md", "replay/manifest.jsonl", "step-*/*.safetensors", "step-*/metrics.json"),
    *("step-*/proof.json", CHECKSUMS),
)
"""Photos that a method stores, galleries, predictions and the journal stay where they are."""


def write_published(folder: RunFolder, out: Path) -> None:
    """Copy a model into a new folder without the paths of this machine, with a fresh card."""
    folder.check_format()
    if not folder.finished_steps():
        raise RecallsegError(f"{folder.path} has no finished step yet; there is nothing to give.")
    folder.write_card()
    for path in _published(folder.path):
        if path.name == CHECKSUMS:
            continue
        target = out / path.relative_to(folder.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(path, target)
    copied = RunFolder(out)
    settings = _without_places(folder.config.model_dump(mode="json"))
    copied.settings.unlink()
    copied.write_config(validate(settings, str(folder.path)))
    if copied.manifest.is_file():
        copied.manifest.unlink()
        copied.write_replay_images([_without_places(entry) for entry in folder.replay_images()])
    seal(out)


def check_received(path: Path, source: str) -> None:
    """Refuse a folder from elsewhere that holds no model this version can use."""
    if not RunFolder.is_one(path):
        raise RecallsegError(f"{source} holds no model of recallseg: it has no config.yaml.")
    folder = RunFolder(path)
    folder.check_format()
    folder.config  # noqa: B018, refuses settings that this version cannot read
    folder.learned()
    if not folder.finished_steps() or not folder.encoder.is_file():
        raise RecallsegError(f"{source} is not a whole model: it lacks weights.")


def _published(path: Path) -> Iterator[Path]:
    for pattern in PUBLISHED:
        yield from (each for each in sorted(path.glob(pattern)) if each.is_file())


def _copy(path: Path, target: Path) -> None:
    """A second name for the file where the disk allows it, a copy elsewhere."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def _without_places(value: Any) -> Any:  # noqa: ANN401
    """JSON values in which an absolute path is the name at its end."""
    if isinstance(value, dict):
        return {key: _without_places(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_places(each) for each in value]
    if isinstance(value, str) and Path(value).is_absolute():
        return Path(value).name
    return value
