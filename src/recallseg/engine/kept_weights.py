"""Where the weights of a run are kept, and where those of step 0 may come from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from recallseg.data.dataset import SegmentationDataset
from recallseg.engine.samples.views import Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.engine.session.shared import SharedStep0
from recallseg.engine.training.loop import SAVED
from recallseg.errors import RecallsegError
from recallseg.files import content_key
from recallseg.methods import Method
from recallseg.model import Segmenter
from recallseg.model.building import build_model
from recallseg.model.saving import load_weights, save_weights
from recallseg.runs.folder import RunFolder
from recallseg.runs.proofs import check_proof, model_key
from recallseg.scenario import Step

FIRST_PASS = "first-pass.pt"
"""In the state of a session: what an unfinished step's first pass left."""

Weights = dict[Path, nn.Module]
"""Files, and what belongs into them."""


class KeptWeights:
    """The files with the weights of a run; runs that begin alike share those after step 0."""

    def __init__(
        self, session: Session, data: RunData, folder: RunFolder, method: Method, supply: Supply
    ) -> None:
        self.session, self.data, self.folder = session, data, folder
        self.method, self.supply, self.config = method, supply, session.config

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait while another run trains the same step 0, and let others wait for this one."""
        if self.folder.step(0).decoder.is_file():
            yield
            return
        with self._shared().turn(self.session.reporter.say):
            self.session.fabric.barrier()
            yield

    def _shared(self) -> SharedStep0:
        scenario = self.method.steps(self.data.scenario)
        return SharedStep0(self.config, scenario, self.data.train, type(self.method))

    def initial_model(self, step: Step) -> tuple[Segmenter, Weights | None]:
        """M_0, and None if its weights are there: of this run, or of one that began alike.

        Otherwise it is untrained, and comes with the files that later runs will look for.
        """
        shared = self._shared()
        own = self.folder.step(0).decoder.is_file()
        if own:
            self.check(step)
        elif self.session.fabric.is_global_zero:
            shared.drop_if_damaged()
        folders = (self.folder, shared.folder)
        trained = self.session.processes.from_first(
            lambda: [each for each in folders if each.step(0).decoder.is_file()]
        )
        torch.manual_seed(self.config.seed)
        start = "none" if trained else None
        model = build_model(self.config.model, step.channels, start)
        if not trained:
            self._refuse_without_photos(step)
            if self.session.fabric.is_global_zero:
                shared.begin()
            decoder = shared.folder.step(0).decoder
            return model, {shared.folder.encoder: model.encoder, decoder: model.decoder}
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
        if not saved or saved.get("photos") != self.photos_key(step):
            return False
        model.decoder.load_state_dict(saved["decoder"])
        if self.method.memory is not None:
            self.method.memory.load_state_dict(saved["memory"])
        return True

    def keep_first_pass(self, step: Step, model: Segmenter) -> None:
        """Keep what a second pass begins with until the step is finished."""
        memory = self.method.memory and self.method.memory.state_dict()
        decoder, photos = model.decoder.state_dict(), self.photos_key(step)
        self.session.save(FIRST_PASS, {"photos": photos, "decoder": decoder, "memory": memory})
        self.session.fabric.barrier()

    def check(self, step: Step) -> None:
        """Refuse weights of a step that belong to other classes, settings or photos."""
        photos = None if self._is_past(step) else self.photos_key(step)
        check_proof(self.folder, step.index, self.config, photos)

    def _is_past(self, step: Step) -> bool:
        """Whether a step was learned by an earlier call, whose photos are not there any more."""
        return step.index < self.data.scenario.past

    def photos_key(self, step: Step) -> str:
        """A hash of what a step learns from."""
        photos = self.data.train.subset(step.images).signature()
        return content_key(step.index, photos, step.label_table.tolist())

    def load(self, step: Step, weights: Weights) -> bool:
        """Take up weights of a step if all of them were kept; false if not."""
        if not self.session.processes.from_first(lambda: all(path.is_file() for path in weights)):
            self._refuse_without_photos(step)
            return False
        self.check(step)
        for path, module in weights.items():
            load_weights(path, module)
        return True

    def _refuse_without_photos(self, step: Step) -> None:
        """A step that has to be learned again, though its photos are gone, is an error."""
        if self._is_past(step):
            back = f", or go back with `recallseg rollback --to {step.index - 1}`"
            raise RecallsegError(
                f"The weights of step {step.index} in {self.folder.path} are missing, and its "
                "photos are not there to learn it again; put back a copy of them"
                f"{back if step.index else ''}."
            )

    def keep_step(
        self, step: Step, model: Segmenter, but: SegmentationDataset | None = None
    ) -> None:
        """Write what a step made, and first which classes and photos it belongs to."""
        if self.session.fabric.is_global_zero and not self._is_past(step):
            self.folder.write_proof(
                step.index,
                {
                    "channels": self.folder.class_names(step.index),
                    "model": model_key(self.config),
                    "photos": self.photos_key(step),
                },
            )
        self.keep(self.of(step, model), but)

    def keep(self, weights: Weights, but: SegmentationDataset | None = None) -> None:
        """Write weights and forget what only an unfinished training needs.

        `but` are photos whose features the next training of the step wants too.
        """
        if self.session.fabric.is_global_zero:
            for path, module in weights.items():
                save_weights(path, module)
        self.session.fabric.barrier()
        self.forget_features(but)
        for state in (SAVED, FIRST_PASS):
            self.session.discard(state)
        self.session.tick()
        self.session.fabric.barrier()

    def forget_features(self, but: SegmentationDataset | None = None) -> None:
        """Delete stored features, `but` those of some photos, unless later runs may have them."""
        if not self.config.bank.keep:
            self.supply.drop(but)
