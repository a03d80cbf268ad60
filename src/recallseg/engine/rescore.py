"""Measuring a finished run again, on its own split or on other photos."""

from pathlib import Path
from typing import Any

from recallseg.data import open_dataset
from recallseg.engine.building import build_model
from recallseg.engine.evaluation import evaluate
from recallseg.engine.folder import RunFolder
from recallseg.engine.scoring import score
from recallseg.engine.session import Session
from recallseg.errors import RecallsegError
from recallseg.model import Segmenter
from recallseg.model.saving import load_weights
from recallseg.scenario import channels_of


def open_model(folder: RunFolder, step: int | None = None) -> tuple[Segmenter, int]:
    """The model of a run after a step, the last one by default, and which step that is."""
    finished = folder.finished_steps()
    if not finished:
        raise RecallsegError(f"{folder.path} has no finished step yet.")
    index = finished[-1] if step is None else step
    if index not in finished:
        raise RecallsegError(
            f"{folder.path} has no step {index}; it has {', '.join(map(str, finished))}."
        )
    known = folder.read("classes.json")
    channels = 1 + sum(len(names) for names in known["steps"][: index + 1])
    model = build_model(folder.config.model, channels, weights="none")
    own = folder.step(index) / "encoder.safetensors"
    load_weights(own if own.is_file() else folder.path / "encoder.safetensors", model.encoder)
    load_weights(folder.step(index) / "decoder.safetensors", model.decoder)
    return model, index


def rescore(
    path: Path, *, root: Path | None = None, split: str | None = None, step: int | None = None
) -> dict[str, Any]:
    """The scores of a run's model on a split of any dataset with the same class names."""
    folder = RunFolder.existing(path)
    config, known = folder.config, folder.read("classes.json")
    dataset = open_dataset(config.data.name, split or config.data.val, root or config.data.root)
    model, index = open_model(folder, step)
    names = known["channels"][: model.decoder.classes]
    table = channels_of(names, dataset.classes, dataset.root)
    session = Session.open(config.model_copy(update={"devices": 1, "tensorboard": False}), None)
    counts = evaluate(session, model, dataset, table)
    return score(index, known["steps"][index], names, known["initial"], counts)
