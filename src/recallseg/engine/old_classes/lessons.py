"""What a replay source is shown of a step (paper: train S on (C_k, T_k))."""

from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.replay import Lesson, Memory
from recallseg.scenario import Step


def lesson_of(session: Session, data: RunData, step: Step, memory: Memory) -> Lesson:
    """The new classes of a step with its photos of each, and what the source remembers."""
    scenario = data.scenario
    names = dict(zip(step.new_classes, scenario.names(step.new_classes), strict=True))
    showing = {label: scenario.presence.stems_with(label) for label in names}
    return Lesson(
        step=step.index,
        names=names,
        dataset=data.train,
        stems={
            label: [stem for stem in step.images if stem in stems]
            for label, stems in showing.items()
        },
        memory=memory,
        device=session.fabric.device,
        reporter=session.reporter,
    )
