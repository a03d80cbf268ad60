"""The Replay Block (paper, sec. 4): images of an old class, labelled by a helper decoder."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from recallseg.config import SourceSettings
from recallseg.data.dataset import Mask, Pair, SegmentationDataset, read_photo
from recallseg.data.transforms import photo_tensor
from recallseg.data.working_size import at_working_size
from recallseg.engine.old_classes.exhibits import Exhibit, choose
from recallseg.engine.samples.photo_labels import IDENTITY, write_labels
from recallseg.engine.samples.views import PhotoSet
from recallseg.engine.session import Session
from recallseg.errors import RecallsegError
from recallseg.files import cache_root, content_key
from recallseg.model import Segmenter
from recallseg.replay import ReplayPhoto, Source
from recallseg.replay.label_filters import reason_to_reject
from recallseg.replay.labelling import PseudoLabel, pseudo_label
from recallseg.scenario import LookUp

REPLAY = "replay"
LABELS = "a mask for every image, kept or not"
"""What a folder of labels holds; folders that hold something else are not found."""


@dataclass(frozen=True)
class Labeller:
    """A model that labels images of one class, and what its channels mean."""

    model: Segmenter
    queried: int
    """The model's channel of the class."""
    channels: LookUp = field(default_factory=lambda: IDENTITY)
    """From the model's channels to those of the main model; by default it is the main model."""
    longer_side: int | None = None
    """The size at which the model looks at photos."""

    @torch.no_grad()
    def label(self, photo: Path) -> PseudoLabel:
        """The pseudo-label of a photo."""
        device = next(self.model.parameters()).device
        image = at_working_size(read_photo(photo), self.longer_side)
        seen = self.model(photo_tensor(image)[None].to(device))
        return pseudo_label(seen.logits, self.queried, self.channels)


class ReplayBlock:
    """Fetches and labels images of old classes, once for everything that they depend on."""

    def __init__(
        self, session: Session, settings: SourceSettings, must_replay: bool = False
    ) -> None:
        """With `must_replay`, a class without images is an error and not only a warning."""
        self.session, self.settings, self.must_replay = session, settings, must_replay
        self.source: Source = settings.open()
        self.config = session.config.replay
        self.manifest: list[dict[str, Any]] = []
        self.gallery: list[Exhibit] = []

    def forget(self) -> None:
        """Begin the account of a new step."""
        self.manifest.clear()
        self.gallery.clear()

    def check_may_forget(self, class_name: str) -> None:
        """Refuse to go on without images of an old class, if that was not allowed."""
        if self.must_replay:
            raise RecallsegError(
                f"There is no replay image in which '{class_name}' is seen, so it would be "
                "forgotten; give other images of it, or --allow-forgetting."
            )

    def summary(self) -> str:
        """The step's account in a sentence."""
        kept = Counter(e["class_name"] for e in self.manifest if e["rejected"] is None)
        fewest = min(kept, key=lambda name: kept[name], default=None)
        least = f", {kept[fewest]} of {fewest} the fewest" if fewest else ""
        return f"{kept.total()} of {len(self.manifest)} replay images kept{least}"

    def photos(self, class_name: str, labeller: Labeller, most: int) -> PhotoSet | None:
        """Up to so many images of a class with their pseudo-labels, or None if there are none.

        If views are labelled by themselves, the images come without labels: whatever labels them,
        and whichever are kept, their features are stored once.
        """
        say = self.session.reporter.say
        brought = content_key(self.config.source, self.settings.images_depend_on())
        photos_in = cache_root() / REPLAY / "photos" / brought / class_name
        waiting = f"waiting for photos of '{class_name}', which are brought by"
        with self.session.turn(photos_in.parent, waiting):
            photos = self.session.processes.from_first(
                lambda: self.source.collect(class_name, most, photos_in, say)
            )
        folder = cache_root() / REPLAY / "labels" / self._label_key(class_name, photos, labeller)
        entries = self._label_all(class_name, photos, photos_in, labeller, folder)
        exhibits = [
            Exhibit(
                photo.path(photos_in),
                folder / f"{entry['label']}.png",
                json.loads(photo.to_line()) | entry,
            )
            for photo, entry in zip(photos, entries, strict=True)
        ]
        self.manifest += [exhibit.about for exhibit in exhibits]
        self.gallery += choose(exhibits)
        kept = [each.about["label"] for each in exhibits if each.about["rejected"] is None]
        if not kept:
            say(f"warning: no replay images of '{class_name}'; it may be forgotten")
            return None
        labelled = self.config.label_on != "views"
        pairs = tuple(
            Pair(each.about["label"], each.photo, each.label if labelled else None)
            for each in exhibits
        )
        dataset = SegmentationDataset(f"replay-{class_name}", photos_in, "replay", (), pairs)
        return PhotoSet(dataset, kept, IDENTITY)

    def _label_all(
        self,
        class_name: str,
        photos: list[ReplayPhoto],
        photos_in: Path,
        labeller: Labeller,
        folder: Path,
    ) -> list[dict[str, Any]]:
        """Label every image once; what is known of each label."""

        def label(number: int) -> tuple[Mask, dict[str, Any]]:
            seen = labeller.label(photos[number].path(photos_in))
            about = {"area": round(seen.area, 5), "confidence": round(seen.confidence, 5)}
            reason = reason_to_reject(seen, self.config.filters)
            return seen.mask, {"label": f"{number:05}", "rejected": reason, **about}

        return write_labels(self.session, folder, f"label {class_name}", len(photos), label)

    def _label_key(self, class_name: str, photos: list[ReplayPhoto], labeller: Labeller) -> str:
        filters = self.config.filters.model_dump()
        channels = labeller.channels.tolist()
        hashes = [photo.sha256 for photo in photos]
        size = () if labeller.longer_side is None else (labeller.longer_side,)
        seen_by = (labeller.model.fingerprint(), labeller.queried, channels, *size)
        return content_key(LABELS, class_name, hashes, *seen_by, filters)
