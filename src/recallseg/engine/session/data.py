"""The data of a run, opened and checked before anything is trained."""

from dataclasses import dataclass
from pathlib import Path

from recallseg.checksums import DIGESTS
from recallseg.config import RunConfig
from recallseg.data import SegmentationDataset
from recallseg.data.kinds import is_held_out
from recallseg.data.opening import open_training, open_validation
from recallseg.data.verify import verify
from recallseg.engine.session.session import Session
from recallseg.scenario import Scenario
from recallseg.scenario.build import open_scenario


@dataclass(frozen=True)
class RunData:
    """The photos to learn from and to be measured on, and how they are dealt out to steps."""

    scenario: Scenario
    train: SegmentationDataset
    val: SegmentationDataset | None
    """None where a model is not to be measured."""
    must_replay: bool = False
    """Whether an old class without replay images is an error; if not, it may be forgotten."""

    @classmethod
    def open(cls, config: RunConfig) -> "RunData":
        """Open everything; whatever is wrong with it is said now."""
        train, scenario = open_training(config.data), scenario_of(config)
        if config.data.val == "tune-later":
            held_out = [stem for stem in scenario.later_photos() if is_held_out(stem)]
            scenario, val = scenario.without(held_out), train.subset(held_out)
        else:
            val = open_validation(config.data)
        for dataset in (train, val):
            verify(dataset)
        return cls(scenario, train, val)


def in_all_processes(session: Session, data: RunData | None) -> RunData:
    """The data of a run that its first process opened, in each of them.

    With it comes what files hold, so that the others do not read all of them for their keys.
    """
    opened, digests = session.processes.from_first(lambda: (data, DIGESTS))
    DIGESTS.update(digests)
    assert opened is not None
    return opened


def scenario_of(config: RunConfig, presence: Path | None = None) -> Scenario:
    """The scenario that a configuration describes, from its masks or from a presence table."""
    data, chosen = config.data, config.scenario
    return open_scenario(
        data.name,
        chosen.spec,
        setup=chosen.setup,
        rule=chosen.rule,
        order=chosen.order,
        lists=chosen.lists,
        root=data.root,
        presence=presence,
        split=data.learned,
    )
