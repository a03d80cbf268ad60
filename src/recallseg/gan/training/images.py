"""A folder of images with one sub-folder a class, and the batches that are drawn from it."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from recallseg.data.dataset import read_photo
from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.errors import RecallsegError
from recallseg.files import content_key
from recallseg.progress import map_files

HELD_OUT = 0.1


@dataclass(frozen=True)
class ClassFolder:
    """The images of each class; class ids are positions in `names`, which are sorted."""

    root: Path
    names: tuple[str, ...]
    files: tuple[tuple[Path, ...], ...]

    @classmethod
    def open(cls, root: Path) -> "ClassFolder":
        """List a folder; one that cannot be learned from is refused."""
        if not root.is_dir():
            raise RecallsegError(
                f"The folder {root} does not exist; give one with a sub-folder of images per class."
            )
        places = [p for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")]
        places.sort(key=lambda place: place.name)
        if len(places) < 2:
            raise RecallsegError(
                f"{root} has {len(places)} sub-folder(s); a class-conditional generator needs at "
                "least two classes, each a sub-folder of images."
            )
        files = tuple(
            tuple(sorted(p for p in place.iterdir() if p.suffix.lower() in PHOTO_ENDINGS))
            for place in places
        )
        for place, inside in zip(places, files, strict=True):
            if not inside:
                raise RecallsegError(
                    f"The class folder {place} holds no images ({', '.join(PHOTO_ENDINGS)}); put "
                    "some there or delete it."
                )
        return cls(root, tuple(place.name for place in places), files)

    @cached_property
    def paths(self) -> list[Path]:
        """All images, class by class."""
        return [path for inside in self.files for path in inside]

    @cached_property
    def labels(self) -> Tensor:
        """The class id of each of `paths`."""
        counts = torch.tensor([len(inside) for inside in self.files])
        return torch.arange(len(self.files)).repeat_interleave(counts)

    @cached_property
    def held_out(self) -> Tensor:
        """Which of `paths` no classifier learns from: a tenth of each class, by hash of the name.

        At least one of every class that has two.
        """
        chosen = []
        for inside in self.files:
            order = sorted(inside, key=_hash)
            count = min(len(inside) - 1, max(1, round(HELD_OUT * len(inside))))
            apart = set(order[:count])
            chosen += [path in apart for path in inside]
        return torch.tensor(chosen)

    def signature(self) -> str:
        """A hash that changes whenever an image or the choice of them does."""
        about = [
            (path.parent.name, path.name, path.stat().st_size, path.stat().st_mtime_ns)
            for path in self.paths
        ]
        return content_key(self.names, about)

    def read(self, side: int) -> Tensor:
        """All images as bytes (N,3,side,side): the largest centred square of each, resized."""
        squares = map_files(lambda path: square(read_photo(path), side), self.paths, "reading")
        return torch.stack(squares)


def square(photo: Image.Image, side: int) -> Tensor:
    """The largest centred square of a photo as bytes (3,side,side)."""
    fitted = ImageOps.fit(photo, (side, side), Image.Resampling.LANCZOS)
    return torch.from_numpy(np.array(fitted)).permute(2, 0, 1)


@dataclass(frozen=True)
class Draws:
    """Real images in memory, and the batches of them: each a function of the generator given."""

    pixels: Tensor
    labels: Tensor
    mirror: bool = True

    def batch(self, size: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Images (size,3,H,W) in [-1,1] and their class ids; every class is drawn as often."""
        counts = torch.bincount(self.labels).numpy()
        classes = rng.integers(len(counts), size=size)
        first = np.cumsum(counts) - counts
        rows = first[classes] + (rng.random(size) * counts[classes]).astype(np.int64)
        images = self.pixels[torch.from_numpy(rows)].float() / 127.5 - 1
        mirrored = torch.from_numpy(rng.random(size) < 0.5)
        if self.mirror:
            images[mirrored] = images[mirrored].flip(-1)
        return images, torch.from_numpy(classes)


def _hash(path: Path) -> str:
    return hashlib.sha256(f"{path.parent.name}/{path.name}".encode()).hexdigest()
