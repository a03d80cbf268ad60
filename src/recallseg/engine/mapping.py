"""The Class Mapping Module at work on the photos of a step (paper, eq. mapper)."""

from collections.abc import Iterator

from torch import Tensor

from recallseg.engine.session import Session
from recallseg.engine.world import World
from recallseg.progress import prefetch
from recallseg.replay.mapping import Match, PhotoClassifier, map_classes
from recallseg.scenario import Step


def map_step(
    session: Session, world: World, step: Step, classifier: PhotoClassifier
) -> dict[str, tuple[Match, ...]]:
    """What the generator calls each class of C_k, by classifying the photos of T_k."""
    classifier = session.fabric.to_device(classifier)
    scenario, dataset = world.scenario, world.train
    holding = {label: scenario.presence.stems_with(label) for label in step.new_classes}
    rows = dataset.rows(step.images)

    def prepared(row: int) -> Tensor:
        return classifier.prepare(dataset.read(row)[0])

    def batches() -> Iterator[tuple[Tensor, list[list[str]]]]:
        with session.reporter.phase(f"step {step.index}: class mapping", len(rows)) as phase:
            for stem, photo in zip(step.images, prefetch(prepared, rows), strict=True):
                shown = [label for label in step.new_classes if stem in holding[label]]
                yield session.fabric.to_device(photo[None]), [scenario.names(shown)]
                phase.advance()

    return map_classes(batches(), classifier, classifier.names)
