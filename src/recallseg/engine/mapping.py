"""The Class Mapping Module at work on the photos of a step (paper, eq. mapper)."""

from collections.abc import Iterator

from torch import Tensor

from recallseg.engine.session import Session
from recallseg.engine.world import World
from recallseg.model.cores import on_every_core
from recallseg.replay.mapping import Match, PhotoClassifier, map_classes
from recallseg.scenario import Step


def map_step(
    session: Session, world: World, step: Step, classifier: PhotoClassifier
) -> dict[str, tuple[Match, ...]]:
    """What the generator calls each class of C_k, by classifying the photos of T_k."""
    classifier = session.fabric.to_device(classifier)
    scenario, dataset = world.scenario, world.train
    by_area = session.config.replay.map_by == "area"
    holding = {label: scenario.presence.stems_with(label) for label in step.new_classes}
    rows = dataset.rows(step.images)

    def classified(row: int) -> tuple[Tensor, list[dict[str, float]]]:
        photo, mask = dataset.read(row)
        shown = [label for label in holding if dataset.pairs[row].stem in holding[label]]
        areas = [float((mask == label).mean()) if by_area else 1.0 for label in shown]
        logits = classifier(session.fabric.to_device(classifier.prepare(photo)[None]))
        return logits, [dict(zip(scenario.names(shown), areas, strict=True))]

    def batches() -> Iterator[tuple[Tensor, list[dict[str, float]]]]:
        with session.reporter.phase(f"step {step.index}: class mapping", len(rows)) as phase:
            for batch in on_every_core(classified, rows):
                yield batch
                phase.advance()

    return map_classes(batches(), classifier.names)
