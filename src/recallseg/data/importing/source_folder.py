"""The files of a dataset that is to be imported, and how the photos are found that it names."""

import os
import shutil
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Any

from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.data.importing.reading import read_json, split_in
from recallseg.errors import RecallsegError

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar")
FEW = 20
"""So many files are looked at to tell what kind of files a folder holds."""


@dataclass(frozen=True)
class ImportOptions:
    """What a person says about a dataset that its files do not."""

    images: Path | None = None
    """Where the photos are, if not beside their labels."""
    colours: Path | None = None
    """A file with the colours of the classes in RGB masks."""
    class_name: str | None = None
    """The class of masks that are 0 and 255."""
    boxes: bool = False
    """Whether the box of an object without an outline is filled."""


class Scratch:
    """A temporary folder that is made when it is first used."""

    @cached_property
    def folder(self) -> Path:
        """Its path."""
        return Path(mkdtemp(prefix="recallseg-"))

    def cleanup(self) -> None:
        """Remove it, if it was made."""
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)


class SourceFolder:
    """A folder, or one annotation file in it, and the photos that may be used."""

    def __init__(self, source: Path, options: ImportOptions | None = None) -> None:
        self.options = options or ImportOptions()
        if not source.exists():
            raise RecallsegError(f"{source} does not exist; name a dataset's folder or file.")
        if source.suffix.lower() in ARCHIVES:
            raise RecallsegError(f"{source} is an archive; unpack it and name the folder.")
        self.root = source if source.is_dir() else source.parent
        self.only = None if source.is_dir() else source
        images = self.options.images
        if images is not None and not images.is_dir():
            raise RecallsegError(f"The folder {images} for photos does not exist.")
        self.photo_roots = [self.root] if images is None else [images, self.root]
        self._json: dict[Path, Any] = {}
        self._scratch = Scratch()

    @cached_property
    def files(self) -> list[Path]:
        """Every file that counts, in a fixed order; hidden ones do not."""
        return [self.only] if self.only else _walk(self.root)

    def ending(self, *endings: str) -> list[Path]:
        """The files whose names end so."""
        return [path for path in self.files if path.name.lower().endswith(endings)]

    def json(self, path: Path) -> Any:  # noqa: ANN401
        """The value of a JSON file, read once."""
        if path not in self._json:
            self._json[path] = read_json(path)
        return self._json[path]

    def json_with(self, *keys: str) -> list[Path]:
        """The JSON files with an object that has these keys, if one of the first few does."""
        paths = self.ending(".json")
        if not any(self._has_keys(path, keys) for path in paths[:FEW]):
            return []
        return [path for path in paths if self._has_keys(path, keys)]

    def _has_keys(self, path: Path, keys: tuple[str, ...]) -> bool:
        value = self.json(path)
        return isinstance(value, dict) and all(key in value for key in keys)

    @cached_property
    def _photos_by_name(self) -> dict[str, list[Path]]:
        by_name: dict[str, list[Path]] = defaultdict(list)
        for root in self.photo_roots:
            for path in _walk(root):
                if path.suffix.lower() in PHOTO_ENDINGS and path not in by_name[path.name]:
                    by_name[path.name].append(path)
        return by_name

    def find_photo(self, name: str, near: Path, split: str | None = None) -> Path | None:
        """The photo that an annotation file in the folder `near` calls `name`, or None.

        It is looked for where the name points to, and then by its last part anywhere in the
        dataset. A name that leads out of the dataset is never followed.
        """
        relative = name.replace("\\", "/")
        for base in (near, *self.photo_roots, *(root / "images" for root in self.photo_roots)):
            path = Path(os.path.normpath(base / relative))
            if self.holds(path) and path.is_file():
                return path
        parts = PurePosixPath(relative).parts
        same_name = self._photos_by_name.get(parts[-1], []) if parts else []
        candidates = [p for p in same_name if p.parts[-len(parts) :] == parts] or same_name
        if len(candidates) > 1 and split:
            in_split = [
                path for path in candidates if split_in(*reversed(path.parts[:-1])) == split
            ]
            candidates = in_split or candidates
        if len(candidates) > 1:
            raise RecallsegError(
                f"'{name}' may be {candidates[0]} or {candidates[1]}; give the folder of the right "
                "ones with --images."
            )
        if not candidates and not self.holds(Path(os.path.normpath(near / relative))):
            raise RecallsegError(
                f"A file in {near} names the photo '{name}', which is outside of {self.root}; "
                "import the folder that holds both, or give the photos' folder with --images."
            )
        return candidates[0] if candidates else None

    def close(self) -> None:
        """Remove the photos that were unpacked."""
        self._scratch.cleanup()

    def unpack_photo(self, content: bytes, number: int) -> Path | None:
        """A file for a photo that lies inside of an annotation file; only PNG and JPEG have one."""
        starts = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg"}
        ending = next((end for start, end in starts.items() if content.startswith(start)), None)
        if ending is None:
            return None
        path = self._scratch.folder / f"{number}{ending}"
        path.write_bytes(content)
        return path

    def holds(self, path: Path) -> bool:
        """Whether a path without `..` is in the dataset, or where its photos are."""
        path = Path(os.path.abspath(path))  # noqa: PTH100  (links are not followed)
        roots = [Path(os.path.abspath(root)) for root in self.photo_roots]  # noqa: PTH100
        return any(path.is_relative_to(root) for root in roots)


def _walk(root: Path) -> list[Path]:
    paths = []
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if not name.startswith((".", "__MACOSX")))
        paths += [Path(folder, name) for name in sorted(names) if not name.startswith(".")]
    return paths
