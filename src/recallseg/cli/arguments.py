"""Arguments that several commands have, under the same names and words in all of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(help="The model's folder.", show_default=False)]
Step = Annotated[int | None, typer.Option(help="The step; by default the last.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write it to this file, as JSON.")
]


def check_model(model: Path, step: int | None = None) -> None:
    """Refuse a folder without a model, or without that step, before torch is loaded."""
    from recallseg.errors import RecallsegError
    from recallseg.runs.folder import RunFolder

    finished = RunFolder.existing(model).finished_steps()
    if step is not None and finished and step not in finished:
        raise RecallsegError(f"{model} has no step {step}; it has {', '.join(map(str, finished))}.")


def check_lesson(model: Path, data: Path, overrides: Sequence[str]) -> None:
    """Refuse photos that are not there and settings that do not exist, before torch is loaded."""
    from recallseg.config import load_preset
    from recallseg.data import open_dataset
    from recallseg.runs.folder import RunFolder

    begun = RunFolder.is_one(model)
    RunFolder(model).config_with(overrides) if begun else load_preset("learn", overrides)
    open_dataset("folder", "train", data)
