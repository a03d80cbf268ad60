"""Replay by GAN (paper, sec. 5): images of the generator's class that resembles ours most."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from PIL import Image

from recallseg.errors import RecallsegError
from recallseg.files import atomic_path
from recallseg.gan.biggan import BigGAN
from recallseg.gan.generator import sample
from recallseg.replay.mapping import Match, check_mapping
from recallseg.replay.photos import ReplayPhoto, Say, read_manifest, write_manifest
from recallseg.runs.records import MappingRecord

LICENCE = "generated"
MANIFEST = "manifest.jsonl"


class GanSource:
    """A class-conditional generator, and the class mapping that says what to ask it for."""

    name = "gan"

    def __init__(
        self,
        generator: BigGAN,
        *,
        names: Sequence[str] | None = None,
        truncation: float = 1.0,
        side: int | None = None,
        seed: int = 0,
    ) -> None:
        """`names` are what the generator calls its classes, where that is known.

        Images are brought to `side` pixels a side, or left as large as they are generated.
        """
        self.generator, self.names, self.truncation, self.seed = generator, names, truncation, seed
        self.side = side or generator.config.output_dim
        self.mapping: dict[str, tuple[Match, ...]] = {}

    def learn(self, mapping: Mapping[str, Sequence[Match]]) -> None:
        """Take up the class mapping of a step; it must lead to classes that the generator has."""
        check_mapping(mapping, self.generator.config.num_classes, self.names)
        self.mapping |= {name: tuple(matches) for name, matches in mapping.items()}

    def collect(self, class_name: str, count: int, folder: Path, say: Say) -> list[ReplayPhoto]:
        """Generate `count` images of the mapped class; they appear when all are there."""
        if class_name not in self.mapping:
            raise RecallsegError(f"The class mapping has no entry for '{class_name}'.")
        match = self.mapping[class_name][0]
        about = f"truncation-{self.truncation:g}-{self.side}px-{count}-{self._fingerprint}"
        place = folder / f"class-{match.index}-{about}"
        if not place.is_dir():
            say(f"generating {count} images of '{match.name}' for '{class_name}'")
            with atomic_path(place) as scratch:
                scratch.mkdir()
                self._generate(class_name, match, count, scratch, place.name)
        return read_manifest(place / MANIFEST)

    @cached_property
    def _fingerprint(self) -> str:
        """Changes with the weights, so that images of a generator trained anew are made anew."""
        digest = hashlib.sha256()
        for tensor in self.generator.state_dict().values():
            digest.update(tensor.cpu().contiguous().numpy().data)
        return digest.hexdigest()[:8]

    def _generate(
        self, class_name: str, match: Match, count: int, scratch: Path, inside: str
    ) -> None:
        photos = []
        images = sample(
            self.generator, match.index, count, truncation=self.truncation, seed=self.seed
        )
        for number, image in enumerate(images):
            path = scratch / f"gan-{number:05}.png"
            picture = Image.fromarray(image.permute(1, 2, 0).numpy())
            picture.resize((self.side, self.side), Image.Resampling.BICUBIC).save(path)
            photos.append(
                ReplayPhoto(
                    class_name=class_name,
                    file=Path(inside) / path.name,
                    source=self.name,
                    query=match.name,
                    origin=f"class {match.index}, seed {self.seed}, number {number}",
                    licence=LICENCE,
                    credit=self.name,
                    sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
                )
            )
        write_manifest(scratch / MANIFEST, photos)


def mapping_record(mapping: Mapping[str, Sequence[Match]]) -> MappingRecord:
    """A class mapping as a run folder keeps it."""
    return {
        name: [(match.index, match.name, round(match.score, 6)) for match in matches]
        for name, matches in mapping.items()
    }


def matches_of(record: MappingRecord) -> dict[str, tuple[Match, ...]]:
    """The class mapping that a run folder kept."""
    return {name: tuple(Match(*match) for match in matches) for name, matches in record.items()}
