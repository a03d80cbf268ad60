"""A folder of images with one sub-folder per class, and the batches that are drawn from it."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from recallseg.data.decoding import read_photo
from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.errors import RecallsegError
from recallseg.files import content_key, file_digest
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
        """List a folder; one that cannot be trained on is refused."""
        if not root.is_dir():
            raise RecallsegError(
                f"The folder {root} does not exist; give one with a sub-folder of images per class."
            )
        folders = [p for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")]
        folders.sort(key=lambda folder: folder.name)
        if len(folders) < 2:
            raise RecallsegError(
                f"{root} has {len(folders)} sub-folder(s); a class-conditional generator needs at "
                "least two classes, each a sub-folder of images."
            )
        files = tuple(
            tuple(sorted(p for p in folder.iterdir() if p.suffix.lower() in PHOTO_ENDINGS))
            for folder in folders
        )
        for folder, images in zip(folders, files, strict=True):
            if not images:
                raise RecallsegError(
                    f"The class folder {folder} holds no images ({', '.join(PHOTO_ENDINGS)}); put "
                    "some there or delete it."
                )
        return cls(root, tuple(folder.name for folder in folders), files)

    @cached_property
    def paths(self) -> list[Path]:
        """All images, class by class."""
        return [path for images in self.files for path in images]

    @cached_property
    def labels(self) -> Tensor:
        """The class id of each of `paths`."""
        counts = torch.tensor([len(images) for images in self.files])
        return torch.arange(len(self.files)).repeat_interleave(counts)

    @cached_property
    def held_out(self) -> Tensor:
        """Which of `paths` nothing is trained on: a tenth of each class, by hash of the name.

        At least one of every class that has two.
        """
        is_held_out = []
        for images in self.files:
            order = sorted(images, key=_hash)
            count = min(len(images) - 1, max(1, round(HELD_OUT * len(images))))
            held_out = set(order[:count])
            is_held_out += [path in held_out for path in images]
        return torch.tensor(is_held_out)

    def signature(self) -> str:
        """A hash that changes whenever an image or the list of images does."""
        files = [(path.parent.name, path.name, file_digest(path)) for path in self.paths]
        return content_key(self.names, files)

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
    """Real images in memory, and batches of them that depend only on the random generator."""

    pixels: Tensor
    labels: Tensor
    mirror: bool = True

    def batch(self, size: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Images (size,3,H,W) in [-1,1] and their class ids; all classes are equally likely."""
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
