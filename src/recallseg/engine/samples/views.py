"""From photos to training samples: stored features where the encoder is frozen and they fit."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recallseg.config import ViewConfig
from recallseg.data.dataset import SegmentationDataset
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.samples.sets import BankSamples, PhotoSamples, Samples
from recallseg.engine.session import Session
from recallseg.engine.session.shared import BANK
from recallseg.files import cache_root
from recallseg.model import Encoder
from recallseg.model.bank import DiskBudget, FeatureBank
from recallseg.model.native_bank import NativeBank
from recallseg.scenario import LookUp


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


@dataclass
class Supply:
    """Makes samples for one run, and knows which stored features it used."""

    session: Session
    banks: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        limit = self.session.config.bank.budget_gb * 2**30
        self.budget = DiskBudget(cache_root() / BANK, limit)

    def samples(self, encoder: Encoder, photos: PhotoSet, name: str) -> Samples:
        """Samples of a set of photos, for a training called `name`."""
        config = self.session.config
        recipe = view_recipe(config.views, encoder)
        if encoder.frozen and config.bank.enabled:
            encoder = self.session.fabric.to_device(encoder)
            bank = FeatureBank(
                cache_root() / BANK,
                photos.dataset,
                encoder,
                recipe,
                config.bank.views,
                config.seed,
            )
            rows = photos.dataset.rows(photos.stems)
            if self._fill(bank, rows, name):
                return BankSamples(bank, rows, photos.table)
        subset = photos.dataset.subset(photos.stems)
        return PhotoSamples(subset, photos.table, recipe, f"{config.seed}/{name}")

    def native(self, encoder: Encoder, dataset: SegmentationDataset) -> NativeBank | None:
        """Features of whole photos, to be kept for the decoders that come later."""
        if not (self.session.config.bank.enabled and encoder.frozen):
            return None
        return NativeBank(cache_root() / BANK, dataset, encoder, self.budget)

    def drop(self) -> None:
        """Delete the features of training photos that were stored."""
        for bank in self.banks:
            shutil.rmtree(bank, ignore_errors=True)
        self.banks.clear()

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
