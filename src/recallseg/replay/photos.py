"""A replay photo and its origin, and lists of such photos."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from recallseg.errors import RecallsegError
from recallseg.files import read_text, write_text


@dataclass(frozen=True)
class ReplayPhoto:
    """An unlabelled image of an old class: one line of `replay/manifest.jsonl`."""

    class_name: str
    file: Path
    """Relative to the folder of the class, or absolute for photos that stay where they are."""
    source: str
    query: str
    origin: str
    """The address, path or seed that the image was made from."""
    title: str = ""
    licence: str = ""
    credit: str = ""
    sha256: str = ""
    phash: str = ""
    """Perceptual hash of 64 bits as hexadecimal digits; empty if it is not needed."""
    page: str = ""
    """The page that shows the photo with its author, for readers who follow the credit."""

    def path(self, folder: Path) -> Path:
        """The path of the image if the photos of its class are in `folder`."""
        return folder / self.file

    def to_line(self) -> str:
        """One line of JSON, without the line break."""
        return json.dumps(asdict(self) | {"file": str(self.file)}, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "ReplayPhoto":
        """The photo that `to_line` wrote."""
        try:
            values = json.loads(line)
            keys = {field.name for field in fields(cls)}
            if not isinstance(values, dict) or values.keys() - keys:
                raise ValueError("unknown keys")
            if not all(isinstance(value, str) for value in values.values()):
                raise ValueError("a value is not a text")
            return cls(**values | {"file": Path(values["file"])})
        except (ValueError, KeyError, TypeError) as error:
            raise RecallsegError(
                f"This is not an entry of a replay manifest ({error}): {line[:80]}"
            ) from error


def write_manifest(path: Path, photos: Iterable[ReplayPhoto]) -> None:
    """Replace the manifest at `path`, one photo per line."""
    write_text(path, "".join(f"{photo.to_line()}\n" for photo in photos))


def read_manifest(path: Path) -> list[ReplayPhoto]:
    """The photos of a manifest, in its order."""
    if not path.is_file():
        raise RecallsegError(f"The replay manifest {path} does not exist.")
    lines = read_text(path).splitlines()
    return [ReplayPhoto.from_line(line) for line in lines if line.strip()]
