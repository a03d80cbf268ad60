"""What runs share: step 0 is trained once for everything that it depends on."""

from contextlib import AbstractContextManager
from pathlib import Path

import torch

from recallseg.checksums import is_damaged, seal
from recallseg.config import RunConfig
from recallseg.data.dataset import SegmentationDataset
from recallseg.data.opening import open_training
from recallseg.engine.session.data import scenario_of
from recallseg.files import bank_root, cache_root, content_key, remove_tree
from recallseg.leases import Say, in_turn, lease_beside
from recallseg.methods import Method, build_method, method_class
from recallseg.model.geometry import GEOMETRY
from recallseg.runs.folder import RunFolder
from recallseg.scenario import Scenario
from recallseg.version import __version__

STEP_0 = "step-0"
BANK = "bank"


def step_0_key(
    config: RunConfig, scenario: Scenario, dataset: SegmentationDataset, method: type[Method]
) -> str:
    """A key of all that the weights after step 0 depend on, and of nothing else.

    Scenarios that begin alike (15-5 and 15-1) and methods that differ only later share it, and
    joint training, whose scenario has all steps in one, is the same in every split and setup.
    """
    step = scenario[0]
    loss = method.initial_loss
    own_loss = [] if loss is Method.initial_loss else [f"{loss.__module__}.{loss.__qualname__}"]
    return content_key(
        __version__,
        torch.__version__,
        GEOMETRY,
        dataset.signature(),
        step.images,
        step.label_table.tolist(),
        scenario.setup == "overlapped",
        config.model.model_dump(),
        config.views.model_dump(),
        config.optim.model_dump(),
        config.seed,
        config.processes,
        config.precision,
        *own_loss,
        *_stored_views(config),
    )


def _stored_views(config: RunConfig) -> list[object]:
    """What step 0 depends on where it is trained on stored views, as it is on a fixed encoder."""
    bank, model = config.bank, config.model
    is_fixed = model.tail and not model.first_stages
    return [bank.enabled, bank.views, bank.seed] if is_fixed else []


def first_step_key(config: RunConfig) -> str:
    """The key of the step 0 of a run that is still to come, by its data as they are now."""
    method = method_class(config.method.name)
    scenario = build_method(config.method).steps(scenario_of(config))
    return step_0_key(config, scenario, open_training(config.data), method)


class SharedStep0:
    """The weights after step 0 in the cache, for all runs that begin alike."""

    def __init__(
        self,
        config: RunConfig,
        scenario: Scenario,
        dataset: SegmentationDataset,
        method: type[Method],
    ) -> None:
        key = step_0_key(config, scenario, dataset, method)
        self.folder = RunFolder(cache_root() / STEP_0 / key)

    def turn(self, say: Say) -> AbstractContextManager[None]:
        """Wait while another run trains them, and let others wait for this one."""
        waiting = "step 0: waiting for the same training, which is done by"
        return in_turn(lease_beside(self.folder.path), waiting, say)

    def drop_if_damaged(self) -> None:
        """Forget weights that are not what was written."""
        if is_damaged(self.folder.path):
            remove_tree(self.folder.path)

    def begin(self) -> None:
        """Make a place for them that notes what it will hold."""
        seal(self.folder.path)


def cache_folders() -> dict[str, Path]:
    """Where each kind of thing in the cache lies."""
    kinds = {path.name: path for path in sorted(cache_root().glob("[!.]*")) if path.is_dir()}
    if bank_root().is_dir():
        kinds[BANK] = bank_root()
    return kinds
