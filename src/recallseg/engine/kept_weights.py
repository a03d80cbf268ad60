"""Where the weights of a run are kept, and where those of step 0 may come from."""

from pathlib import Path

import torch
from torch import nn

from recallseg.data.dataset import SegmentationDataset
from recallseg.engine.samples.views import Supply
from recallseg.engine.session import Session
from recallseg.engine.session.shared import STEP_0, step_0_key
from recallseg.engine.training.loop import SAVED
from recallseg.files import cache_root
from recallseg.methods import Method
from recallseg.model import Segmenter
from recallseg.model.building import build_model
from recallseg.model.saving import load_weights, save_weights
from recallseg.runs.folder import RunFolder
from recallseg.scenario import Step

FIRST_PASS = "first-pass.pt"
"""In the state of a session: what an unfinished step's first pass left."""

Weights = dict[Path, nn.Module]
"""Files, and what belongs into them."""


class KeptWeights:
    """The files with the weights of a run; runs that begin alike share those after step 0."""

    def __init__(self, session: Session, folder: RunFolder, method: Method, supply: Supply) -> None:
        self.session, self.folder, self.method, self.supply = session, folder, method, supply
        self.config = session.config

    def initial_model(
        self, step: Step, dataset: SegmentationDataset
    ) -> tuple[Segmenter, Weights | None]:
        """M_0, and None if its weights are there: of this run, or of one that began alike.

        Otherwise it is untrained, and comes with the files that later runs will look for.
        """
        key = step_0_key(self.config, step, dataset, type(self.method))
        shared = RunFolder(cache_root() / STEP_0 / key)
        trained = [each for each in (self.folder, shared) if each.step(0).decoder.is_file()]
        torch.manual_seed(self.config.seed)
        start = "none" if trained else None
        model = build_model(self.config.model, step.channels, start)
        if not trained:
            return model, {shared.encoder: model.encoder, shared.step(0).decoder: model.decoder}
        load_weights(trained[0].encoder, model.encoder)
        load_weights(trained[0].step(0).decoder, model.decoder)
        return model, None

    def of(self, step: Step, model: Segmenter) -> Weights:
        """Where the weights after a step belong; the decoder comes last and makes a step whole."""
        folder = self.folder.step(step.index)
        weights: Weights = {}
        if step.index == 0:
            weights[self.folder.encoder] = model.encoder
        elif self.config.method.train_encoder:
            weights[folder.encoder] = model.encoder
        if self.method.memory is not None:
            weights[folder.memory] = self.method.memory
        weights[folder.decoder] = model.decoder
        return weights

    def load_memory(self, step: Step) -> bool:
        """Give the method its memory after a step; false if it has one that was not kept yet."""
        path = self.folder.step(step.index).memory
        if self.method.memory is None:
            return True
        if path.is_file():
            load_weights(path, self.method.memory)
        return path.is_file()

    def load_first_pass(self, step: Step, model: Segmenter) -> bool:
        """Take up what the first pass of an unfinished step left, if there is something."""
        saved = self.session.load(FIRST_PASS)
        if not saved or saved["step"] != step.index:
            return False
        model.decoder.load_state_dict(saved["decoder"])
        if self.method.memory is not None:
            self.method.memory.load_state_dict(saved["memory"])
        return True

    def keep_first_pass(self, step: Step, model: Segmenter) -> None:
        """Keep what a second pass begins with until the step is finished."""
        memory = self.method.memory and self.method.memory.state_dict()
        values = {"step": step.index, "decoder": model.decoder.state_dict(), "memory": memory}
        self.session.save(FIRST_PASS, values)
        self.session.fabric.barrier()

    def load(self, weights: Weights) -> bool:
        """Take up weights if all of them were kept; false if not."""
        if not all(path.is_file() for path in weights):
            return False
        for path, module in weights.items():
            load_weights(path, module)
        return True

    def keep(self, weights: Weights, but: SegmentationDataset | None = None) -> None:
        """Write weights and forget what only an unfinished training needs.

        `but` are photos whose features the next training of the step wants too.
        """
        if self.session.fabric.is_global_zero:
            for path, module in weights.items():
                save_weights(path, module)
            self.forget_features(but)
        for state in (SAVED, FIRST_PASS):
            self.session.discard(state)
        self.session.tick()
        self.session.fabric.barrier()

    def forget_features(self, but: SegmentationDataset | None = None) -> None:
        """Delete stored features, `but` those of some photos, unless later runs may have them."""
        if self.session.fabric.is_global_zero and not self.config.bank.keep:
            self.supply.drop(but)
