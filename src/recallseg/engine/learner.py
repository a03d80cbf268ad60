"""The lines of Algorithm 1: how a model is trained at each step."""

import shutil
from pathlib import Path

import torch

from recallseg.config import ModelConfig, OptimConfig, ViewConfig
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.artifacts import BANK, STEP_0, step_0_key
from recallseg.engine.folder import RunFolder, load_weights, save_weights
from recallseg.engine.loop import Loss, Training, train
from recallseg.engine.optim import iterations_for
from recallseg.engine.samples import BankSamples, PhotoSamples, Samples, Shuffled
from recallseg.engine.session import Session
from recallseg.engine.world import World
from recallseg.files import cache_root
from recallseg.methods import Method, plain_loss
from recallseg.model import Decoder, Encoder, Segmenter, scaled_dilations
from recallseg.model.bank import DiskBudget, FeatureBank
from recallseg.model.native_bank import NativeBank
from recallseg.scenario import Step


def build_model(config: ModelConfig, channels: int, weights: str | None = None) -> Segmenter:
    """A fresh model with `channels` outputs, background included."""
    encoder = Encoder(
        config.encoder,
        output_stride=config.output_stride,
        weights=weights or config.weights,
        neck=config.neck,
        neck_stride=config.neck_stride,
        train_batch_norm=config.train_batch_norm,
    )
    return Segmenter(encoder, build_decoder(config, encoder, channels))


def build_decoder(config: ModelConfig, encoder: Encoder, channels: int) -> Decoder:
    """A fresh decoder on an encoder; helper decoders have the same shape with fewer channels."""
    dilations = config.dilations or scaled_dilations(encoder.stride)
    return Decoder(encoder.channels, channels, dilations=dilations)


def view_recipe(views: ViewConfig, encoder: Encoder) -> ViewRecipe:
    """How training views are cut for an encoder: padding is the colour that it sees as zero."""
    return ViewRecipe(views.crop, views.scale, encoder.mean_colour, views.label_stride)


class Learner:
    """A model on its way through the steps of a run."""

    model: Segmenter

    def __init__(self, session: Session, world: World, folder: RunFolder, method: Method) -> None:
        self.session, self.world, self.folder, self.method = session, world, folder, method
        self.config = session.config
        self.row_of = {pair.stem: row for row, pair in enumerate(world.train.pairs)}
        limit = self.config.bank.budget_gb * 2**30
        self.budget = DiskBudget(cache_root() / BANK, limit)
        self.banks: list[Path] = []

    def train_initial(self, step: Step) -> None:
        """Train M_0 = E_0 ∘ D_0 on T_0, or take it from an earlier run that did the same."""
        shared = cache_root() / STEP_0 / step_0_key(self.config, step, self.world.train)
        for place in (self.folder.path, shared):
            if (place / "step-0" / "decoder.safetensors").is_file():
                self.model = build_model(self.config.model, step.channels, weights="none")
                load_weights(place / "encoder.safetensors", self.model.encoder)
                load_weights(place / "step-0" / "decoder.safetensors", self.model.decoder)
                break
        else:
            torch.manual_seed(self.config.seed)
            self.model = build_model(self.config.model, step.channels)
            self._train("step 0", self.config.optim, step, plain_loss)
            self._save(RunFolder(shared), step, with_encoder=True)
        self._save(self.folder, step, with_encoder=True)
        if not self.config.method.train_encoder:
            self.model.encoder.freeze()

    def train_incremental(self, step: Step) -> None:
        """Grow the decoder by C_k and train D_k by the method's loss."""
        torch.manual_seed(self.config.seed + 1000 * step.index)
        self.model.decoder.grow(len(step.new_classes))
        if step.index in self.folder.finished_steps():
            load_weights(self.folder.step(step.index) / "decoder.safetensors", self.model.decoder)
            if self.config.method.train_encoder:
                load_weights(
                    self.folder.step(step.index) / "encoder.safetensors", self.model.encoder
                )
            return
        self._train(f"step {step.index}", self.config.increment, step, self.method.loss)
        self._save(self.folder, step, with_encoder=False)

    def native_bank(self) -> NativeBank | None:
        """Features of the validation photos, where more than one decoder will want them."""
        several = len(self.method.steps(self.world.scenario)) > 1
        if not (several and self.config.bank.enabled and self.model.encoder.frozen):
            return None
        folder = cache_root() / BANK
        return NativeBank(folder, self.world.val, self.model.encoder, self.budget)

    def _train(self, name: str, optim: OptimConfig, step: Step, loss: Loss) -> None:
        iterations = iterations_for(optim, len(step.new_classes), self.config.scenario.setup)
        stream = Shuffled(self._samples(step, name), optim.batch, f"{self.config.seed}/{name}")
        train(self.session, Training(name, optim, iterations), self.model, stream, loss)

    def _samples(self, step: Step, name: str) -> Samples:
        """T_k: from the bank where the encoder is frozen and the features fit, else as photos."""
        encoder, config = self.model.encoder, self.config
        seed = f"{config.seed}/{name}"
        recipe = view_recipe(config.views, encoder)
        if encoder.frozen and config.bank.enabled:
            encoder = self.session.fabric.to_device(encoder)
            folder = cache_root() / BANK
            bank = FeatureBank(
                folder, self.world.train, encoder, recipe, config.bank.views, config.seed
            )
            rows = [self.row_of[stem] for stem in step.images]
            if self._fill(bank, rows, name):
                return BankSamples(bank, rows, step.label_table)
        return PhotoSamples(self.world.train.subset(step.images), step.label_table, recipe, seed)

    def _fill(self, bank: FeatureBank, rows: list[int], name: str) -> bool:
        """Encode what is missing, every process its share; false where the budget is too small."""
        fabric, reporter = self.session.fabric, self.session.reporter
        missing = bank.missing(rows)
        needed = len(missing) * bank.bytes_per_photo
        if not self.budget.take(needed):
            reporter.say(
                f"{name}: the features would take {needed / 2**30:.1f} GiB and "
                f"{self.budget.left / 2**30:.1f} GiB of bank.budget_gb are left, so photos are "
                "encoded on the fly; `recallseg cache clear` makes room"
            )
            return False
        share = missing[fabric.global_rank :: fabric.world_size]
        with reporter.phase(f"{name}: encode", len(share)) as phase:
            bank.fill(share, phase.advance)
        fabric.barrier()
        self.banks.append(bank.folder)
        return True

    def _save(self, folder: RunFolder, step: Step, with_encoder: bool) -> None:
        """Leave the weights of a step in a folder, the decoder last, and drop unwanted features."""
        if self.session.fabric.is_global_zero:
            if with_encoder:
                save_weights(folder.path / "encoder.safetensors", self.model.encoder)
            elif self.config.method.train_encoder:
                path = folder.step(step.index) / "encoder.safetensors"
                save_weights(path, self.model.encoder)
            save_weights(folder.step(step.index) / "decoder.safetensors", self.model.decoder)
            if not self.config.bank.keep:
                for bank in self.banks:
                    shutil.rmtree(bank, ignore_errors=True)
        self.session.discard("training.pt")
        self.session.tick()
        self.session.fabric.barrier()
