"""Measuring a finished run again, on its own split or on other photos."""

from pathlib import Path

from recallseg.data.opening import open_validation
from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.evaluation.scoring import score
from recallseg.engine.session import Session
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import StepRecord
from recallseg.scenario import channels_of


def rescore(
    path: Path, *, root: Path | None = None, split: str | None = None, step: int | None = None
) -> StepRecord:
    """The scores of a run's model on a split of any dataset with the same class names."""
    folder = RunFolder.existing(path)
    config = folder.config
    dataset = open_validation(config.data, split, root)
    model, index = open_model(folder, step)
    names, about = folder.class_names(index), folder.learned()
    table = channels_of(names, dataset.classes, dataset.root)
    session = Session.open(config.in_one_process())
    counts = evaluate(session, model, dataset, table)
    return score(index, about["steps"][index], names, about["initial"], counts)
