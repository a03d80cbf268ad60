"""Replay photos that are on disk already: a folder per class, or a list with tags."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError
from pydantic import Field

from recallseg.config.sources import SourceSettings, needed_path
from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.data.kinds import found_path
from recallseg.errors import RecallsegError, unknown_name
from recallseg.files import check_regular, read_text
from recallseg.replay.photos import ReplayPhoto
from recallseg.replay.queries import MatchRule, matches, query_of
from recallseg.replay.source import Say, Source

LIST_NAME = "photos.jsonl"


class FolderSettings(SourceSettings):
    """Which photos on disk are replayed."""

    title: str = "folder"
    path: Path | None = None
    """A folder per class, or a list of photos with tags (`photos.jsonl`). A relative path is looked
    for in `$RECALLSEG_DATA` too."""
    collection: str | None = None
    """Use only this collection of a list."""
    match: MatchRule = "both"
    """Of a list: the class name must stand in tags and description, or in one of them."""
    queries: dict[str, str] = Field(default_factory=dict)
    """What to look for instead of a class's name."""

    def open(self) -> Source:
        """The folder as a source."""
        root = found_path(needed_path(self.path, "folder"))
        return FolderSource(root, self.collection, self.match, self.queries)


@dataclass(frozen=True)
class FolderSource(Source):
    """Photos under `root`, taken in the order of their names or of the list; nothing is copied.

    `root` is a folder with a subfolder per class (named as the class or as its query), a JSONL
    list whose lines have id, file, collection, tags and description, or a folder with such a
    `photos.jsonl`. Of a list, the paper's filter on tags and description picks the photos.
    """

    root: Path
    collection: str | None = None
    """Which collection of a list is used; all of them without it."""
    match: MatchRule = "both"
    queries: Mapping[str, str] = field(default_factory=dict)
    """Class name to query, over the built-in table."""
    name: str = "folder"

    def collect(self, class_name: str, count: int, folder: Path, say: Say) -> list[ReplayPhoto]:
        """The first `count` readable photos of a class; `folder` stays as it is."""
        query = query_of(class_name, self.queries)
        photos: list[ReplayPhoto] = []
        broken = 0
        for path, line in self._candidates(class_name, query):
            if len(photos) == count:
                break
            if _is_image(path):
                photos.append(self._entry(class_name, query, path, line))
            else:
                broken += 1
        if broken:
            say(f"{class_name}: {broken} file(s) under {self.root} are not images and were left.")
        if len(photos) < count:
            say(f"Warning: {self.root} has {len(photos)} of {count} photos of '{class_name}'.")
        return photos

    def _candidates(self, class_name: str, query: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        listing = self.root / LIST_NAME if self.root.is_dir() else self.root
        if listing.is_file():
            for number, line in self._listed(listing):
                if matches(line["tags"], line["description"], query, self.match):
                    yield _inside(listing, number, line["file"]), line
            return
        if not self.root.is_dir():
            raise RecallsegError(
                f"The replay folder {self.root} does not exist; it must hold a folder per class "
                f"or a {LIST_NAME}."
            )
        if self.collection is not None:
            raise RecallsegError(
                f"{self.root} has no {LIST_NAME}, so it has no collection '{self.collection}'."
            )
        for name in dict.fromkeys((class_name, query)):
            if (folder := self.root / name).is_dir():
                for path in sorted(folder.iterdir()):
                    if path.suffix.lower() in PHOTO_ENDINGS:
                        yield path.absolute(), {}
                return

    def _listed(self, listing: Path) -> list[tuple[int, dict[str, Any]]]:
        lines = [
            (number, _parse(text, listing, number))
            for number, text in enumerate(read_text(listing).splitlines(), 1)
            if text.strip()
        ]
        if self.collection is None:
            return lines
        collections = sorted({str(line.get("collection", "")) for _, line in lines})
        if self.collection not in collections:
            raise unknown_name(f"collection of {listing}", self.collection, collections)
        return [each for each in lines if each[1].get("collection") == self.collection]

    def _entry(
        self, class_name: str, query: str, path: Path, line: Mapping[str, Any]
    ) -> ReplayPhoto:
        return ReplayPhoto(
            class_name=class_name,
            file=path,
            source=self.name,
            query=query,
            origin=str(path),
            title=str(line.get("title") or line.get("description") or ""),
            licence=str(line.get("licence") or line.get("license") or ""),
            credit=str(line.get("credit") or ""),
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        )


def _parse(text: str, listing: Path, number: int) -> dict[str, Any]:
    try:
        line = json.loads(text)
        tags, words = line["tags"], [line["file"], line["description"], *line["tags"]]
        if isinstance(tags, list) and all(isinstance(word, str) for word in words):
            return dict(line)
    except (ValueError, KeyError, TypeError):
        pass
    raise RecallsegError(
        f"Line {number} of {listing} is not a JSON object with the texts 'file' and 'description' "
        "and the list of texts 'tags'."
    )


def _inside(listing: Path, number: int, file: str) -> Path:
    """The photo that a line names, which must lie in the list's own folder.

    A list that was received could otherwise bring any picture of this machine into a gallery.
    """
    path = (listing.parent / file).absolute()
    try:
        is_inside = path.resolve().is_relative_to(listing.parent.resolve())
    except (OSError, ValueError, RuntimeError):
        is_inside = False
    if not is_inside:
        raise RecallsegError(
            f"Line {number} of {listing} names {file!r}, which is not in the folder of the list; "
            "put the photo there and write its path relative to the list."
        )
    return path


def _is_image(path: Path) -> bool:
    try:
        check_regular(path)
        with Image.open(path):
            return True
    except FileNotFoundError as error:
        raise RecallsegError(f"The replay photo {path} does not exist.") from error
    except (
        RecallsegError,
        OSError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
        ValueError,
    ):
        return False
