"""A model before and after a step, measured on the same pixels."""

from recallseg.data import SegmentationDataset
from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.evaluation.scoring import score
from recallseg.engine.samples.views import Supply
from recallseg.engine.session import Session
from recallseg.predict.opening import open_model
from recallseg.runs.records import ComparisonRecord
from recallseg.runs.taught_folder import TaughtFolder
from recallseg.scenario import channels_of

NOTABLE_LOSS = 3.0
"""Points of IoU; a class that lost more is worth a warning."""


def compare(
    folder: TaughtFolder, dataset: SegmentationDataset, step: int
) -> ComparisonRecord | None:
    """Measure the model of the step before on photos that the step was measured on.

    Pixels of classes that it does not know are left out, for both. None where the step has no
    scores.
    """
    after = folder.scores(step)
    if after is None:
        return None
    model, _ = open_model(folder, step - 1)
    names, about = folder.class_names(step - 1), folder.learned()
    session = Session.open(folder.config.in_one_process())
    model.encoder.freeze()
    bank = Supply(session).native(model.encoder, dataset)
    table = channels_of(names, dataset.classes, dataset.root)
    counts = evaluate(session, model, dataset, table, bank, f"evaluate step {step - 1} beside it")
    before = score(step - 1, about["steps"][step - 1], names, about["initial"], counts)
    return {
        "step": step,
        "before": before["iou"],
        "after": after.get("iou_without_new", {}),
        "new": {name: after["iou"][name] for name in after["classes"]},
        "confusions": after.get("confusions", []),
        "photos": len(dataset),
    }


def losses(record: ComparisonRecord) -> list[str]:
    """A sentence for every class that lost more than a few points."""
    sentences = []
    for name, before in record["before"].items():
        after = record["after"].get(name)
        if before is not None and after is not None and before - after > NOTABLE_LOSS:
            lost = f"{before - after:.1f} points ({before:.1f} before, {after:.1f} now)"
            sentences.append(f"WARNING: '{name}' lost {lost}.")
    return sentences
