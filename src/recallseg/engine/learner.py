"""The lines of Algorithm 1: how a model is trained at each step."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import torch
from torch import nn

from recallseg.config import OptimConfig
from recallseg.engine.old_classes import OldClasses
from recallseg.engine.old_classes.helpers import Helper
from recallseg.engine.samples.photo_labels import INPAINTED, relabelled_photos
from recallseg.engine.samples.relabelling import Relabel, inpainting, relabelled
from recallseg.engine.samples.sets import Pick, Samples
from recallseg.engine.samples.streams import EvenlyFrom, Interleaved, Shuffled, Stream, shares
from recallseg.engine.samples.views import PhotoSet, Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.engine.session.shared import STEP_0, step_0_key
from recallseg.engine.training.loop import SAVED, Training, train
from recallseg.engine.training.optimisers import iterations_for
from recallseg.files import cache_root, content_key
from recallseg.labels import VOID
from recallseg.methods import Batch, Method, plain_loss
from recallseg.model import Decoder, Segmenter
from recallseg.model.building import build_model
from recallseg.model.cores import in_advance
from recallseg.model.native_bank import NativeBank
from recallseg.model.saving import load_weights, save_weights
from recallseg.runs.folder import RunFolder
from recallseg.scenario import LookUp, Step, look_up


class ContinualLearner:
    """A model on its way through the steps of a run."""

    model: Segmenter

    def __init__(self, session: Session, data: RunData, folder: RunFolder, method: Method) -> None:
        self.session, self.data, self.folder, self.method = session, data, folder, method
        self.config = session.config
        self.supply = Supply(session)
        self.old_classes = OldClasses(session, data, folder, method, self.supply)

    def train_initial(self, step: Step) -> None:
        """Train M_0 = E_0 ∘ D_0 on T_0, or take it from an earlier run that did the same."""
        key = step_0_key(self.config, step, self.data.train, type(self.method))
        shared = RunFolder(cache_root() / STEP_0 / key)
        trained = [each for each in (self.folder, shared) if each.step(0).decoder.is_file()]
        torch.manual_seed(self.config.seed)
        start = "none" if trained else None
        self.model = build_model(self.config.model, step.channels, start)
        if trained:
            load_weights(trained[0].encoder, self.model.encoder)
            load_weights(trained[0].step(0).decoder, self.model.decoder)
        else:
            photos = PhotoSet(self.data.train, step.images, step.label_table)
            samples = self.supply.samples(self.model.encoder, photos, "step 0")
            self.supply.tell("step 0")
            optim = self.config.optim
            stream = Shuffled(samples, optim.batch, f"{self.config.seed}/step 0")
            training = self._training("step 0", optim, len(step.new_classes), step)
            train(self.session, training, self.model, stream, self.method.initial_loss)
            self._finish(
                {
                    shared.encoder: self.model.encoder,
                    shared.step(0).decoder: self.model.decoder,
                }
            )
        if not self.config.method.train_encoder:
            self.model.encoder.freeze()
        self.method.begin(step, self.model)
        weights = self._weights_of(step)
        memory = self.folder.step(0).memory
        if self.method.memory is not None and memory.is_file():
            load_weights(memory, weights.pop(memory))
        else:
            self._review(step)
        self._finish(weights)

    def train_helper(self, step: Step) -> None:
        """Train D^H_{C_k} on T_k alone, to label replay images of C_k in later steps."""
        if self.old_classes.needs_helpers:
            for helper in self.old_classes.helpers.of(step):
                if not helper.path.is_file():
                    torch.manual_seed(self.config.seed + 1000 * step.index + 1)
                    self._finish({helper.path: self._trained_helper(step, helper)})

    def _trained_helper(self, step: Step, helper: Helper) -> Decoder:
        helpers, encoder = self.old_classes.helpers, self.model.encoder
        config, optim = self.config.helper, self.config.helper.optim
        decoder = helpers.fresh(helper, encoder)
        if step.index == 0 and config.initial == "reuse" and helper.classes == step.new_classes:
            decoder.load_state_dict(self.model.decoder.state_dict())
            return decoder
        if helpers.shared and step.index > 0:
            [before] = helpers.of(self.data.scenario[step.index - 1])
            previous = Segmenter(encoder, helpers.trained(before, encoder))
            previous = previous.eval().requires_grad_(False)
            decoder = deepcopy(previous.decoder).requires_grad_(True)
            decoder.grow(len(step.new_classes))
            stream = self._stream(step, helper.name, optim, previous)
        else:
            photos = PhotoSet(self.data.train, step.images, look_up(helper.classes))
            samples = self.supply.samples(encoder, photos, helper.name)
            self.supply.tell(helper.name)
            stream = Shuffled(samples, optim.batch, f"{self.config.seed}/{helper.name}")
        added = len(set(helper.classes) & set(step.new_classes))
        training = self._training(helper.name, optim, added, step)
        train(self.session, training, Segmenter(encoder, decoder), stream, plain_loss)
        return decoder

    def train_incremental(self, step: Step) -> None:
        """Grow the decoder by C_k and train D_k on T_k^rp: inpainted and replayed samples."""
        previous = self._frozen_copy()
        torch.manual_seed(self.config.seed + 1000 * step.index)
        self.model.decoder.grow(len(step.new_classes), self.method.growth)
        self.method.begin(step, self.model, previous)
        weights = self._weights_of(step)
        if all(path.is_file() for path in weights):
            for path, module in weights.items():
                load_weights(path, module)
            return
        name, optim = f"step {step.index}", self.config.increment
        stream = self._stream(step, name, optim, previous)
        training = self._training(name, optim, len(step.new_classes), step)
        memory = self.method.memory
        train(self.session, training, self.model, stream, self.method.loss, memory)
        self._review(step)
        self._finish(weights)

    def _review(self, step: Step) -> None:
        """Let a method with a memory look at T_k once more, every photo once."""
        if self.method.memory is None:
            return
        photos = PhotoSet(self.data.train, step.images, step.label_table)
        name, size = f"step {step.index}: review", self.config.increment.batch
        samples = self.supply.samples(self.model.encoder, photos, name)
        self.supply.tell(name)
        model = self.session.fabric.to_device(self.model).eval()
        rows = [range(len(samples))[start : start + size] for start in range(0, len(samples), size)]

        def batches() -> Iterator[Batch]:
            drawn = in_advance(lambda some: samples.batch([Pick(row, 0) for row in some]), rows)
            with self.session.reporter.phase(name, len(rows)) as phase:
                for batch in drawn:
                    yield self.session.fabric.to_device(batch)
                    phase.advance()

        self.method.review(step, model, batches())

    def _stream(self, step: Step, name: str, optim: OptimConfig, previous: Segmenter) -> Stream:
        """T_k^rp = T_k^bi ∪ R: what step k is trained on (paper, sec. 4)."""
        size, seed = optim.batch, f"{self.config.seed}/{name}"
        photos = PhotoSet(self.data.train, step.images, self._labels_to_fill(step))
        fill = inpainting(previous, self.config.method.inpaint_confidence)
        fills, as_photos = self._fills(step), self.config.method.inpaint_on == "photos"
        if fills and as_photos:
            photos = self._filled(photos, fill, previous, name)
        new: Samples = self.supply.samples(self.model.encoder, photos, name)
        if fills and not as_photos:
            new = relabelled(new, fill)
        old = self.old_classes.samples(step, name, previous)
        self.supply.tell(name)
        if self.config.replay.inpaint:
            old = [relabelled(samples, fill) for samples in old]
        if not old:
            return Shuffled(new, size, seed)
        r_new, r_old = shares(size, self.config.replay.ratio)
        return Interleaved(Shuffled(new, r_new, seed), EvenlyFrom(old, r_old, f"{seed}/replay"))

    def _filled(self, photos: PhotoSet, fill: Relabel, previous: Segmenter, name: str) -> PhotoSet:
        """T_k^bi with labels that M_{k-1} wrote looking at each photo as a whole."""
        train, confidence = self.data.train, self.config.method.inpaint_confidence
        key = content_key(
            train.signature(),
            photos.stems,
            photos.table.tolist(),
            previous.fingerprint(),
            confidence,
        )
        folder = cache_root() / INPAINTED / key
        self.supply.banks.append(folder)
        return relabelled_photos(self.session, photos, fill, folder, f"{name}: inpaint")

    def _labels_to_fill(self, step: Step) -> LookUp:
        """How the step's labels are seen; void is background where inpainting shall fill it too."""
        table = step.label_table.copy()
        if self._fills(step) and self.config.method.void == "inpaint":
            table[VOID] = 0
        return table

    def _fills(self, step: Step) -> bool:
        """Whether M_{k-1} fills the background of T_k: not where old classes are labelled truly."""
        return self.method.inpainting and not step.old_labels_visible

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

    def _training(self, name: str, optim: OptimConfig, classes: int, step: Step) -> Training:
        """A training as long as a number of new classes, or the step's photos, ask for."""
        setup = self.method.steps(self.data.scenario).setup
        return Training(name, optim, iterations_for(optim, classes, len(step.images), setup))

    def _weights_of(self, step: Step) -> dict[Path, nn.Module]:
        """Where the weights after a step belong; the decoder comes last and makes a step whole."""
        folder = self.folder.step(step.index)
        weights: dict[Path, nn.Module] = {}
        if step.index == 0:
            weights[self.folder.encoder] = self.model.encoder
        elif self.config.method.train_encoder:
            weights[folder.encoder] = self.model.encoder
        if self.method.memory is not None:
            weights[folder.memory] = self.method.memory
        weights[folder.decoder] = self.model.decoder
        return weights

    def _finish(self, weights: dict[Path, nn.Module]) -> None:
        """Write weights and forget what only an unfinished training needs."""
        if self.session.fabric.is_global_zero:
            for path, module in weights.items():
                save_weights(path, module)
            if not self.config.bank.keep:
                self.supply.drop()
        self.session.discard(SAVED)
        self.session.tick()
        self.session.fabric.barrier()
