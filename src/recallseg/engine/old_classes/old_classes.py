"""Samples of classes that were learned before: replayed from a source, or stored by the method."""

import numpy as np

from recallseg.engine.old_classes.exhibits import write_gallery
from recallseg.engine.old_classes.helpers import Helpers
from recallseg.engine.old_classes.lessons import lesson_of
from recallseg.engine.old_classes.replay_block import Labeller, ReplayBlock
from recallseg.engine.old_classes.stored_samples import store_samples, stored_photos
from recallseg.engine.samples.relabelling import HelperLabels
from recallseg.engine.samples.sets import Samples
from recallseg.engine.samples.views import PhotoSet, Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.methods import Method
from recallseg.model import Encoder, Segmenter
from recallseg.runs.folder import RunFolder
from recallseg.scenario import Step


class OldClasses:
    """What a run can still say of its old classes, without their photos."""

    def __init__(
        self, session: Session, data: RunData, folder: RunFolder, method: Method, supply: Supply
    ) -> None:
        self.session, self.data, self.folder = session, data, folder
        self.method, self.supply = method, supply
        self.config = session.config
        self.helpers = Helpers(session.config, folder)
        self.labels = HelperLabels()
        settings = self.config.replay.settings
        self.block = ReplayBlock(session, settings, data.must_replay) if settings else None

    @property
    def needs_helpers(self) -> bool:
        """Whether helper decoders will have images to label."""
        replays = self.block is not None and self.config.replay.labels == "helpers"
        return replays or self.config.helper.always

    def learn(self, step: Step) -> None:
        """Train S on (C_k, T_k), where the source has something to learn (paper, sec. 5)."""
        if self.block is None or not step.new_classes:
            return
        memory = self.folder.source_memory
        lesson, source = lesson_of(self.session, self.data, step, memory), self.block.source
        learned = self.session.processes.from_first(lambda: source.learn(lesson))
        if learned != memory and self.session.fabric.is_global_zero:
            self.folder.write_source_memory(learned)

    def samples(self, step: Step, name: str, previous: Segmenter) -> list[Samples]:
        """One set of samples for each old class; none where the method has no way to get them."""
        if self.block:
            return self._replayed(self.block, step, name, previous)
        if not self.method.stores:
            return []
        stored = stored_photos(self.folder, self.data.scenario[: step.index])
        return [self._samples_of(photos, name, previous.encoder) for photos in stored]

    def _replayed(
        self, block: ReplayBlock, step: Step, name: str, previous: Segmenter
    ) -> list[Samples]:
        """R_{C_0→k-1}: replay images of every old class with pseudo-labels (paper, sec. 4)."""
        block.forget()
        replayed = []
        for earlier in self.data.scenario[: step.index]:
            for label in earlier.new_classes:
                if label in step.refined:
                    continue
                [class_name] = self.data.scenario.names([label])
                labeller = self._labeller(label, earlier, step, previous)
                photos = block.photos(class_name, labeller, self.config.replay.images_per_class)
                if photos is None:
                    block.check_may_forget(class_name)
                    continue
                replayed.append(self._labelled(photos, labeller, name))
        self.session.reporter.say(f"{name}: {block.summary()}")
        self._write_account()
        return replayed

    def _write_account(self) -> None:
        """Keep what was replayed, and some of it to look at."""
        if self.block and self.session.fabric.is_global_zero:
            self.folder.write_replay_images(self.block.manifest)
            write_gallery(self.folder.gallery, self.block.gallery)

    def more_photos(self, step: Step, name: str, taught: Segmenter) -> list[Samples]:
        """Images of the step's own classes from the source, labelled by a model that knows them."""
        if self.block is None or not self.config.replay.new_images:
            return []
        model = self.session.fabric.to_device(taught).eval()
        found = []
        for label in step.new_classes:
            [class_name] = self.data.scenario.names([label])
            side = self.config.views.longer_side
            labeller = Labeller(model, 1 + step.classes.index(label), longer_side=side)
            photos = self.block.photos(class_name, labeller, self.config.replay.new_images)
            if photos is not None:
                found.append(self._labelled(photos, labeller, name))
        self._write_account()
        return found

    def _labelled(self, photos: PhotoSet, labeller: Labeller, name: str) -> Samples:
        """Samples of images with what a model sees in each view, or saw in the whole image."""
        samples = self._samples_of(photos, name, labeller.model.encoder)
        if self.config.replay.label_on == "photos":
            return samples
        key = photos.dataset.signature(), *photos.stems
        return self.labels.relabelled(samples, labeller.model, labeller.channels, key)

    def _samples_of(self, photos: PhotoSet, name: str, encoder: Encoder) -> Samples:
        views = self.config.bank.replay_views
        return self.supply.samples(encoder, photos, f"{name}: {photos.dataset.name}", views)

    def _labeller(self, label: int, earlier: Step, step: Step, previous: Segmenter) -> Labeller:
        """Who labels images of a class of C_i at step k: D^H_{C_i}, or the previous model.

        No helper saw the photos of a step that refined a class; the previous model learned them.
        """
        was_refined = any(label in each.refined for each in self.data.scenario[: step.index])
        if self.config.replay.labels == "previous" or was_refined:
            classes, model = step.old_classes, previous
        else:
            last = self.data.scenario.last_that_added(step)
            helper = self.helpers.who_knows(label, earlier, last)
            classes = helper.classes
            model = Segmenter(previous.encoder, self.helpers.trained(helper, previous.encoder))
        channels = np.zeros(256, dtype=np.uint8)
        channels[1 : 1 + len(classes)] = [1 + step.old_classes.index(known) for known in classes]
        model = self.session.fabric.to_device(model).eval()
        side = self.config.views.longer_side
        return Labeller(model, 1 + classes.index(label), channels, side)

    def store(self, step: Step, encoder: Encoder) -> None:
        """Keep true samples of a step if the method does, as large as its helper would be."""
        if self.method.stores and self.session.fabric.is_global_zero:
            helper = self.helpers.fresh(len(step.new_classes), encoder)
            room = sum(tensor.nbytes for tensor in helper.state_dict().values())
            target, seed = self.folder.step(step.index).samples, self.config.seed
            store_samples(target, step, self.data.scenario, self.data.train, room, seed)
        self.session.fabric.barrier()
