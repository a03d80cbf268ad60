"""From photos to training samples: features where the encoder is frozen, stored while they fit."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from recallseg.config import ViewConfig
from recallseg.data.dataset import SegmentationDataset
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.samples.sets import PhotoSamples, Samples, samples_of
from recallseg.engine.session import Session
from recallseg.files import bank_root, remove_tree
from recallseg.leases import in_turn, lease_beside
from recallseg.model import Encoder
from recallseg.model.bank import DiskBudget, FeatureBank
from recallseg.model.native_bank import NATIVE_FILES, NativeBank
from recallseg.scenario import LookUp

VALIDATION_SHARE = 0.25
"""Of the budget, for validation photos at most; training reads its features far more often."""

SetKey = tuple[Path | int, ...]
"""A bank's folder and the rows of a set of photos in it."""


class Fit(NamedTuple):
    """How many photos a set has, and how many of them are stored."""

    photos: int
    stored: int


def view_recipe(views: ViewConfig, encoder: Encoder) -> ViewRecipe:
    """How training views are cut for an encoder: padding is the colour that it sees as zero."""
    colour = encoder.mean_colour
    return ViewRecipe(views.crop, views.scale, colour, views.label_stride, views.cut)


@dataclass(frozen=True)
class PhotoSet:
    """Some photos of a dataset, and how their labels are to be seen."""

    dataset: SegmentationDataset
    stems: Sequence[str]
    table: LookUp

    def at(self, longer_side: int | None) -> "PhotoSet":
        """The same photos, brought to a size when they are read."""
        return replace(self, dataset=self.dataset.at(longer_side))


@dataclass
class Supply:
    """Makes samples for one run, and knows which stored features it used."""

    session: Session
    banks: dict[Path, SegmentationDataset] = field(default_factory=dict)
    """Folders of stored features and labels, and the photos that they are of."""

    def __post_init__(self) -> None:
        folder, limit = bank_root(), self.session.config.bank.budget_gb * 2**30
        self.budget = DiskBudget(folder, limit)
        share = limit * VALIDATION_SHARE
        self.validation_budget = DiskBudget(folder, share, NATIVE_FILES, within=self.budget)
        self._sets: dict[SetKey, Fit] = {}
        self._told: set[SetKey] = set()

    def samples(
        self, encoder: Encoder, photos: PhotoSet, name: str, views: int | None = None
    ) -> Samples:
        """Samples of a set of photos, for a training called `name`, at the model's working size.

        `views` of each are stored, by default as many as the configuration says.
        """
        config = self.session.config
        photos = photos.at(config.views.longer_side)
        recipe = view_recipe(config.views, encoder)
        if not (encoder.frozen and config.bank.enabled):
            subset = photos.dataset.subset(photos.stems)
            return PhotoSamples(subset, photos.table, recipe, f"{config.seed}/{name}")
        encoder = self.session.fabric.to_device(encoder)
        views = views or config.bank.views
        seed = config.seed if config.bank.seed is None else config.bank.seed
        bank = FeatureBank(bank_root(), photos.dataset, encoder, recipe, views, seed)
        rows = photos.dataset.rows(photos.stems)
        self._fill(bank, rows, name)
        unstored = len(bank.missing(rows))
        self._sets[bank.folder, *rows] = Fit(len(rows), len(rows) - unstored)
        return samples_of(bank, rows, photos.table)

    def tell(self, name: str) -> None:
        """Say how many photos of the training `name` fit, if not all do.

        Later trainings on the same photos, as those of helpers are, do not say it again.
        """
        sets, self._sets = self._sets, {}
        photos, stored = (sum(numbers) for numbers in zip(Fit(0, 0), *sets.values(), strict=True))
        if stored < photos and not sets.keys() <= self._told:
            self.session.reporter.say(
                f"{name}: {stored} of {photos} photos fit into bank.budget_gb="
                f"{self.session.config.bank.budget_gb:g}; the rest is encoded on the fly, which "
                "takes longer: raise it, or make room with `recallseg cache clear bank`"
            )
        self._told |= sets.keys()

    def native(self, encoder: Encoder, dataset: SegmentationDataset) -> NativeBank | None:
        """Features of whole photos, to be kept for the decoders that come later."""
        if not (self.session.config.bank.enabled and encoder.frozen):
            return None
        self._recount()
        dataset = dataset.at(self.session.config.views.longer_side)
        return NativeBank(bank_root(), dataset, encoder, self.validation_budget)

    def drop(self, but: SegmentationDataset | None = None) -> None:
        """Delete the features of training photos that were stored; `but` some are still wanted."""
        wanted = but and but.at(self.session.config.views.longer_side)
        for bank in [path for path, photos in self.banks.items() if photos != wanted]:
            if self.session.processes.here.leads:
                with self._turn(bank):
                    remove_tree(bank)
            del self.banks[bank]

    def _turn(self, bank: Path) -> AbstractContextManager[None]:
        """Wait while another run stores features in the same bank, so that it is done once."""
        waiting = "waiting for the same features, which are stored by"
        here, say = self.session.processes.here, self.session.reporter.say
        return in_turn(lease_beside(bank), waiting, say, leads=here.leads)

    def _fill(self, bank: FeatureBank, rows: list[int], name: str) -> None:
        """Encode what is missing on this machine's disk while there is room, every process of the
        machine its share.

        What is encoded is up to the first of them, so that all agree on it. Machines do not wait
        for each other in their turns: those of two runs could do so for ever.
        """
        here, reporter = self.session.processes.here, self.session.reporter
        if not self._sets:
            self._recount()
        with self._turn(bank.folder):
            here.wait()
            missing = bank.missing(rows)
            room = self.budget.take(bank.bytes_per_photo, len(missing))
            share = here.from_first(missing[:room])[here.place :: here.count]
            with reporter.phase(f"{name}: encode", len(share)) as phase:
                bank.fill(share, phase.advance)
            here.wait()
        self.banks[bank.folder] = bank.dataset

    def _recount(self) -> None:
        """See what other processes and runs have stored or deleted by now."""
        self.budget.recount()
        self.validation_budget.recount()
