"""Replay by GAN (paper, sec. 5): images of the generator's class that resembles ours most."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from recallseg.checksums import is_damaged, seal
from recallseg.config.sources import needed_path
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path, remove_tree
from recallseg.gan.biggan import BigGAN
from recallseg.gan.generator import load_generator, sample
from recallseg.gan.named_tensors import class_names
from recallseg.gan.own_classifier import build_classifier
from recallseg.gan.shipped import generator_file
from recallseg.replay.gan_source import GanSettings
from recallseg.replay.mapping import Match, check_mapping
from recallseg.replay.photos import ReplayPhoto, read_manifest, write_manifest
from recallseg.replay.source import Lesson, Memory, Say, Source
from recallseg.replay.step_mapping import map_step
from recallseg.runs.records import MappingRecord

LICENCE = "generated"
MANIFEST = "manifest.jsonl"


class GanSource(Source):
    """A class-conditional generator, and the class mapping that says what to ask it for."""

    name = "gan"

    def __init__(
        self,
        generator: BigGAN,
        settings: GanSettings,
        *,
        names: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        """`names` are what the generator calls its classes, where that is known."""
        self.generator, self.settings, self.names, self.seed = generator, settings, names, seed
        self.side = settings.side or generator.config.output_dim
        self.mapping: dict[str, tuple[Match, ...]] = {}

    @classmethod
    def load(cls, settings: GanSettings) -> "GanSource":
        """The generator that the settings name."""
        path = generator_file(needed_path(settings.path, "gan"))
        names = class_names(path)
        return cls(load_generator(path), settings, names=names)

    def learn(self, lesson: Lesson) -> Memory:
        """The Class Mapping Module: find what the generator calls the classes of a step."""
        mapping = mapping_from(lesson.memory)
        names = lesson.names.values()
        if not mapping.keys() >= set(names):
            classifier = build_classifier(self.settings.classifier)
            mapping |= map_step(lesson, classifier, self.settings, mapping)
        self.take_up({name: mapping[name] for name in names})
        return memory_of(mapping)

    def take_up(self, mapping: Mapping[str, Sequence[Match]]) -> None:
        """Use a class mapping; it must lead to classes that the generator has."""
        check_mapping(mapping, self.generator.config.num_classes, self.names)
        self.mapping |= {name: tuple(matches) for name, matches in mapping.items()}

    def collect(self, class_name: str, count: int, folder: Path, say: Say) -> list[ReplayPhoto]:
        """Generate `count` images of the mapped class; they appear when all are there."""
        if class_name not in self.mapping:
            raise RecallsegError(f"The class mapping has no entry for '{class_name}'.")
        match = self.mapping[class_name][0]
        drawn = f"truncation-{self.settings.truncation:g}-{self.side}px-{count}-{self._fingerprint}"
        images = folder / f"class-{match.index}-{drawn}"
        if is_damaged(images):
            remove_tree(images)
        if not images.is_dir():
            say(f"generating {count} images of '{match.name}' for '{class_name}'")
            with atomic_path(images) as scratch:
                scratch.mkdir()
                self._generate(class_name, match, count, scratch, images.name)
                seal(scratch)
        return read_manifest(images / MANIFEST)

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
        truncation = self.settings.truncation
        images = sample(self.generator, match.index, count, truncation=truncation, seed=self.seed)
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


def memory_of(mapping: Mapping[str, Sequence[Match]]) -> Memory:
    """A class mapping as a run folder keeps it."""
    return {
        name: [(match.index, match.name, round(match.score, 6)) for match in matches]
        for name, matches in mapping.items()
    }


def mapping_from(memory: Memory) -> dict[str, tuple[Match, ...]]:
    """The class mapping that a run folder kept."""
    try:
        known = TypeAdapter(MappingRecord).validate_python(dict(memory))
    except ValidationError as error:
        raise RecallsegError(
            f"The class mapping (mapping.json) cannot be read: {error.errors()[0]['msg']}. Put "
            "back a copy of it."
        ) from None
    return {name: tuple(Match(*match) for match in matches) for name, matches in known.items()}
