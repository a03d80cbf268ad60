"""The run folder, which is the learner: everything a later step or a later day needs.

    config.yaml  classes.json  encoder.safetensors  metrics.jsonl  result.json
    step-k/{decoder.safetensors, helper.safetensors, metrics.json, predictions.zip}
    mapping.json  replay/{manifest.jsonl, gallery.zip}  state/ (only while unfinished)

It holds no photo of any step, and no features of one. Nothing here needs torch, so that reports can
read it.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from recallseg.config import RunConfig, dump_config, flat, load_config
from recallseg.errors import RecallsegError
from recallseg.files import TEMPORARY, content_key, write_json, write_text

PREDICTIONS = "predictions.zip"
"""In a step's folder: what its model saw in every photo of the validation split."""
MANIFEST = Path("replay", "manifest.jsonl")
GALLERY = Path("replay", "gallery.zip")

FORMAT = 2
"""Counts up when what a run folder holds changes its meaning; it is in `classes.json`. Folders of
format 1 did not say so; there, features lay elsewhere in a photo."""

FREE_SETTINGS = {"checkpoint_seconds", "tensorboard", "keep_predictions"}
"""Settings that may change between the parts of an interrupted run without touching its result."""


def folder_name(path: Path, config: RunConfig) -> str:
    """A folder of its own for every file, seed and set of overrides; the same for the same ones."""
    settings = config.model_dump(mode="json", exclude=FREE_SETTINGS)
    return f"{path.parent.name}-{path.stem}-s{config.seed}-{content_key(settings)[:6]}"


class RunFolder:
    """Reading and writing one run, every file in one move."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def claim(self, config: RunConfig) -> None:
        """Make the folder this run's own, or find that it is already."""
        settings = self.path / "config.yaml"
        if settings.is_file():
            other = load_config(settings)
            if differing := _differences(config, other):
                raise RecallsegError(
                    f"{self.path} holds another run; it differs in {', '.join(differing)}. "
                    "Choose another folder with --out, or remove this one."
                )
        elif self.path.is_dir() and any(self.path.iterdir()):
            raise RecallsegError(f"{self.path} is not empty and holds no run; name a new folder.")
        self.check_format()
        for leftover in self.path.rglob(f".*{TEMPORARY}"):
            shutil.rmtree(leftover, ignore_errors=True)
        write_text(settings, dump_config(config))

    def check_format(self) -> None:
        """Refuse weights that mean something else here than where they were trained."""
        about = self.read("classes.json")
        if about is not None and about.get("format", 1) != FORMAT:
            raise RecallsegError(
                f"{self.path} was made by another version of recallseg (format "
                f"{about.get('format', 1)}, this one has {FORMAT}), with which masks would lie "
                "beside the objects; train it again in a new folder, or use that version."
            )

    @classmethod
    def existing(cls, path: Path) -> "RunFolder":
        """A folder that holds a run; any other is an error."""
        if not (path / "config.yaml").is_file():
            raise RecallsegError(f"{path} is not a run folder: it has no config.yaml.")
        return cls(path)

    @property
    def config(self) -> RunConfig:
        """The configuration the run was made with."""
        return load_config(self.path / "config.yaml")

    def step(self, index: int) -> Path:
        """The folder of a step."""
        return self.path / f"step-{index}"

    def finished_steps(self) -> list[int]:
        """The steps whose decoder is complete, in order."""
        found = [path.parent.name for path in self.path.glob("step-*/decoder.safetensors")]
        return sorted(int(name.removeprefix("step-")) for name in found)

    def write(self, name: str, value: Any) -> None:  # noqa: ANN401
        """Write a JSON file."""
        write_json(self.path / name, value)

    def read(self, name: str) -> Any:  # noqa: ANN401
        """Read a JSON file, or None where there is none."""
        path = self.path / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def finish(self) -> None:
        """Drop what only an unfinished run needs."""
        shutil.rmtree(self.path / "state", ignore_errors=True)


def _differences(one: RunConfig, other: RunConfig) -> list[str]:
    a, b = flat(one.model_dump(mode="json")), flat(other.model_dump(mode="json"))
    keys = sorted(a.keys() | b.keys())
    return [key for key in keys if a.get(key) != b.get(key) and key not in FREE_SETTINGS]
