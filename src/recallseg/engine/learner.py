"""The lines of Algorithm 1: how a model is trained at each step."""

from copy import deepcopy
from dataclasses import replace

import torch

from recallseg.config import OptimConfig
from recallseg.engine.kept_weights import KeptWeights
from recallseg.engine.old_classes import OldClasses
from recallseg.engine.old_classes.helpers import Helper
from recallseg.engine.samples.mistaken import taken_for
from recallseg.engine.samples.views import Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.engine.training.loop import Trainer, Training, train
from recallseg.engine.training_sets import StepSamples, TrainingSets
from recallseg.methods import Method, plain_loss
from recallseg.model import Decoder, Segmenter
from recallseg.model.native_bank import NativeBank
from recallseg.runs.folder import RunFolder
from recallseg.scenario import Step, look_up


class ContinualLearner:
    """A model on its way through the steps of a run."""

    model: Segmenter

    def __init__(
        self,
        session: Session,
        data: RunData,
        folder: RunFolder,
        method: Method,
        trainer: Trainer = train,
    ) -> None:
        self.session, self.data, self.folder, self.method = session, data, folder, method
        self.config, self.trainer = session.config, trainer
        self.supply = Supply(session)
        self.old_classes = OldClasses(session, data, folder, method, self.supply)
        self.sets = TrainingSets(session, data, method, self.supply, self.old_classes)
        self.weights = KeptWeights(session, data, folder, method, self.supply)

    def train_initial(self, step: Step) -> None:
        """Train M_0 = E_0 ∘ D_0 on T_0, or take it from an earlier run that did the same."""
        with self.weights.turn():
            self.model, to_share = self.weights.initial_model(step)
            if to_share is not None:
                name, optim = "step 0", self.config.optim
                encoder = self.model.encoder
                stream = self.sets.of_step_alone(step, step.label_table, name, optim, encoder)
                training = self._training(name, optim, len(step.new_classes), step)
                self.trainer(self.session, training, self.model, stream, self.method.initial_loss)
                self.weights.keep(to_share)
        if not self.config.method.train_encoder:
            self.model.encoder.freeze()
        self.method.begin(step, self.model)
        if not self.weights.load_memory(step):
            self._review(step)
        files = self.weights.of(step, self.model)
        if not self.session.processes.from_first(lambda: all(path.is_file() for path in files)):
            self.weights.keep_step(step, self.model)

    def train_helper(self, step: Step) -> None:
        """Train D^H_{C_k} on T_k alone, to label replay images of C_k in later steps."""
        if self.old_classes.needs_helpers and step.new_classes:
            for helper in self.old_classes.helpers.of(step):
                if not self.session.processes.from_first(helper.path.is_file):
                    torch.manual_seed(self.config.seed + 1000 * step.index + 1)
                    decoder = self._trained_helper(step, helper)
                    self.weights.keep({helper.path: decoder}, but=self.data.train)
        self.weights.forget_features()

    def _trained_helper(self, step: Step, helper: Helper) -> Decoder:
        helpers, encoder = self.old_classes.helpers, self.model.encoder
        config, optim, name = self.config.helper, self.config.helper.optim, helper.name
        tail = self.model.decoder.tail
        decoder = helpers.fresh(len(helper.classes), encoder, tail)
        if step.index == 0 and config.initial == "reuse" and helper.classes == step.new_classes:
            weights = self.model.decoder.state_dict()
            decoder.load_state_dict({name: weights[name] for name in decoder.state_dict()})
            return decoder
        if helpers.shared and step.index > 0:
            [before] = helpers.of(self.data.scenario.last_that_added(step))
            previous = Segmenter(encoder, helpers.trained(before, encoder))
            previous = previous.eval().requires_grad_(False)
            decoder = deepcopy(previous.decoder).requires_grad_(True)
            if helpers.tail_is_apart and decoder.tail and tail:
                decoder.tail.load_state_dict(tail.state_dict())
                decoder.set_tail_apart()
            decoder.grow(len(step.new_classes))
            stream = self.sets.with_old_classes(step, name, optim, encoder, previous)
        else:
            labels = look_up(helper.classes)
            stream = self.sets.of_step_alone(step, labels, name, optim, encoder)
        added = len(set(helper.classes) & set(step.new_classes))
        training = self._training(name, optim, added, step)
        self.trainer(self.session, training, Segmenter(encoder, decoder), stream, plain_loss)
        return decoder

    def train_incremental(self, step: Step) -> None:
        """Grow the decoder by C_k and train D_k on T_k^rp: inpainted and replayed samples."""
        previous = self._frozen_copy()
        torch.manual_seed(self.config.seed + 1000 * step.index)
        if step.new_classes:
            self.model.decoder.grow(len(step.new_classes), self.method.growth)
        self.method.begin(step, self.model, previous)
        if self.weights.load(step, self.weights.of(step, self.model)):
            return
        self._learn(step, previous)
        self._review(step)
        self.weights.keep_step(step, self.model, but=self.data.train)

    def _learn(self, step: Step, previous: Segmenter) -> None:
        """Train D_k in one pass, or in two: the second has labels by what the first one left."""
        name, encoder = f"step {step.index}", self.model.encoder
        samples = self.sets.labelled(step, name, encoder, previous)
        if self.method.growth == "similar" and step.new_classes:
            added = range(1 + len(step.old_classes), step.channels)
            self.model.decoder.start_as(taken_for(previous, samples.new[0], added))
        if self.config.replay.passes == 1:
            self._pass(step, name, samples, previous)
            return
        if not self.weights.load_first_pass(step, self.model):
            self._pass(step, name, samples, previous)
            self.weights.keep_first_pass(step, self.model)
        name, taught = f"{name}, second pass", self._frozen_copy()
        samples.new.extend(self.old_classes.more_photos(step, name, taught))
        self._pass(step, name, samples, taught)

    def _pass(self, step: Step, name: str, samples: StepSamples, knows_old: Segmenter) -> None:
        """Train D_k for its share of the step's iterations."""
        optim = self.config.increment
        stream = self.sets.interleaved(samples, name, optim, knows_old)
        training = self._training(name, optim, len(step.taught), step)
        training = replace(training, iterations=training.iterations // self.config.replay.passes)
        loss, memory = self.method.loss, self.method.memory
        self.trainer(self.session, training, self.model, stream, loss, memory)

    def _review(self, step: Step) -> None:
        """Let a method with a memory look at T_k once more, every photo once."""
        if self.method.memory is None:
            return
        model = self.session.fabric.to_device(self.model).eval()
        name = f"step {step.index}: review"
        batches = self.sets.every_photo_once(step, name, self.model.encoder)
        self.method.review(step, model, batches)

    def _training(self, name: str, optim: OptimConfig, classes: int, step: Step) -> Training:
        """A training as long as a number of new classes, or the step's photos, ask for."""
        setup = self.method.steps(self.data.scenario).setup
        training = Training.of(name, optim, classes, len(step.images), setup)
        return replace(training, data=self.weights.photos_key(step))

    def _frozen_copy(self) -> Segmenter:
        """M_{k-1}, which labels and is not trained; a frozen encoder is shared."""
        encoder = self.model.encoder
        kept = encoder if encoder.frozen else deepcopy(encoder)
        copy = Segmenter(kept, deepcopy(self.model.decoder)).eval()
        return copy.requires_grad_(False)

    def native_bank(self) -> NativeBank | None:
        """Features of the validation photos, where more than one decoder will want them."""
        val, several = self.data.val, len(self.method.steps(self.data.scenario)) > 1
        return self.supply.native(self.model.encoder, val) if val and several else None
