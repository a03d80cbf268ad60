"""What each training of a run sees: T_k, and T_k^rp with inpainting and replay (paper, sec. 4)."""

from collections.abc import Iterator
from typing import NamedTuple

from recallseg.config import OptimConfig
from recallseg.engine.old_classes import OldClasses
from recallseg.engine.samples.photo_labels import INPAINTED, relabelled_photos
from recallseg.engine.samples.relabelling import Relabel, inpainting, relabelled
from recallseg.engine.samples.sets import Chained, Pick, Samples
from recallseg.engine.samples.streams import EvenlyFrom, Interleaved, Shuffled, Stream, shares
from recallseg.engine.samples.views import PhotoSet, Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.files import cache_root, content_key
from recallseg.labels import VOID
from recallseg.methods import Batch, Method
from recallseg.model import Encoder, Segmenter
from recallseg.model.cores import in_advance
from recallseg.scenario import LookUp, Step


class StepSamples(NamedTuple):
    """What a later step learns from."""

    new: list[Samples]
    """T_k^bi, and other samples of the step's classes."""
    old: list[Samples]
    """One set for each class that was learned before."""


class TrainingSets:
    """Streams of samples for the trainings of a run."""

    def __init__(
        self,
        session: Session,
        data: RunData,
        method: Method,
        supply: Supply,
        old_classes: OldClasses,
    ) -> None:
        self.session, self.data, self.method = session, data, method
        self.supply, self.old_classes = supply, old_classes
        self.config = session.config

    def of_step_alone(
        self, step: Step, labels: LookUp, name: str, optim: OptimConfig, encoder: Encoder
    ) -> Stream:
        """T_k, its labels seen through a table, for a training called `name`."""
        photos = PhotoSet(self.data.train, step.images, labels)
        samples = self.supply.samples(encoder, photos, name)
        self.supply.tell(name)
        return Shuffled(samples, optim.batch, f"{self.config.seed}/{name}")

    def with_old_classes(
        self, step: Step, name: str, optim: OptimConfig, encoder: Encoder, previous: Segmenter
    ) -> Stream:
        """T_k^rp = T_k^bi ∪ R: what step k is trained on (paper, sec. 4)."""
        return self.interleaved(self.labelled(step, name, encoder, previous), name, optim, previous)

    def labelled(self, step: Step, name: str, encoder: Encoder, previous: Segmenter) -> StepSamples:
        """T_k^bi and R, replay images with what helpers see in them."""
        photos = PhotoSet(self.data.train, step.images, self._labels_to_fill(step))
        confidence = self.config.method.inpaint_confidence
        fill = inpainting(previous, confidence, step.refined_channels)
        fills, as_photos = self._fills(step), self.config.method.inpaint_on == "photos"
        if fills and as_photos:
            photos = self._filled(photos, fill, previous, name)
        new: Samples = self.supply.samples(encoder, photos, name)
        if fills and not as_photos:
            new = relabelled(new, fill)
        samples = StepSamples([new], self.old_classes.samples(step, name, previous))
        self.supply.tell(name)
        return samples

    def interleaved(
        self, samples: StepSamples, name: str, optim: OptimConfig, knows_old: Segmenter
    ) -> Stream:
        """Batches of new and replayed samples; a model that knows old classes completes the labels
        of replayed ones, if the settings say so."""
        size, seed = optim.batch, f"{self.config.seed}/{name}"
        new, old = Chained(samples.new) if len(samples.new) > 1 else samples.new[0], samples.old
        if self.config.replay.inpaint:
            fill = inpainting(knows_old, self.config.method.inpaint_confidence)
            old = [relabelled(each, fill) for each in old]
        if not old:
            return Shuffled(new, size, seed)
        r_new, r_old = shares(size, self.config.replay.ratio)
        return Interleaved(Shuffled(new, r_new, seed), EvenlyFrom(old, r_old, f"{seed}/replay"))

    def _fills(self, step: Step) -> bool:
        """Whether M_{k-1} fills the background of T_k: not where old classes are labelled truly."""
        return self.method.inpainting and not step.old_labels_visible

    def _filled(self, photos: PhotoSet, fill: Relabel, previous: Segmenter, name: str) -> PhotoSet:
        """T_k^bi with labels that M_{k-1} wrote looking at each photo as a whole."""
        photos = photos.at(self.config.views.longer_side)
        key = content_key(
            photos.dataset.signature(),
            photos.stems,
            photos.table.tolist(),
            previous.fingerprint(),
            self.config.method.inpaint_confidence,
        )
        folder = cache_root() / INPAINTED / key
        filled = relabelled_photos(self.session, photos, fill, folder, f"{name}: inpaint")
        self.supply.banks[folder] = filled.dataset
        return filled

    def _labels_to_fill(self, step: Step) -> LookUp:
        """How the step's labels are seen; void is background where inpainting shall fill it too."""
        table = step.label_table.copy()
        if self._fills(step) and self.config.method.void == "inpaint":
            table[VOID] = 0
        return table

    def every_photo_once(self, step: Step, name: str, encoder: Encoder) -> Iterator[Batch]:
        """T_k in order, on the device, for a method that looks at it once more."""
        photos = PhotoSet(self.data.train, step.images, step.label_table)
        samples, size = self.supply.samples(encoder, photos, name), self.config.increment.batch
        self.supply.tell(name)
        rows = [range(len(samples))[start : start + size] for start in range(0, len(samples), size)]
        drawn = in_advance(lambda some: samples.batch([Pick(row, 0) for row in some]), rows)
        with self.session.reporter.phase(name, len(rows)) as phase:
            for batch in drawn:
                yield self.session.fabric.to_device(batch)
                phase.advance()
