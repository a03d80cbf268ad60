"""The crawler's journal of one class: which photos were kept or rejected, one per line.

Lines are only appended, so a kill at any moment costs at most the line that was being written.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from recallseg.errors import RecallsegError
from recallseg.files import readable_disk_errors
from recallseg.replay.photos import ReplayPhoto

JOURNAL_NAME = "crawl.jsonl"

Outcome = Literal["kept", "rejected", "failed"]
"""What became of a photo; one that `failed` is tried again by a later call."""


@dataclass(frozen=True)
class Entry:
    """What became of the photo `key` (`site:id`), and why if it was not kept."""

    key: str
    outcome: Outcome
    reason: str = ""
    photo: ReplayPhoto | None = None

    def to_line(self) -> str:
        """One line of JSON, without the line break."""
        photo = json.loads(self.photo.to_line()) if self.photo else None
        values = {"key": self.key, "outcome": self.outcome, "reason": self.reason, "photo": photo}
        return json.dumps(values, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "Entry":
        """The entry that `to_line` wrote; a torn line is a ValueError."""
        values = json.loads(line)
        try:
            photo = values["photo"] and ReplayPhoto.from_line(json.dumps(values["photo"]))
            entry = cls(str(values["key"]), values["outcome"], str(values["reason"]), photo)
        except (KeyError, TypeError, RecallsegError) as error:
            raise ValueError("not a journal entry") from error
        if entry.outcome not in get_args(Outcome) or (entry.outcome == "kept") != bool(photo):
            raise ValueError("not a journal entry")
        return entry


class Journal:
    """The entries of one class by key, in the order of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_bytes() if path.is_file() else b""
        self._torn = bool(text) and not text.endswith(b"\n")
        self.entries = {entry.key: entry for entry in _whole_entries(text)}

    def add(self, entry: Entry) -> None:
        """Append an entry, after a line break if the last line was cut off."""
        line = ("\n" if self._torn else "") + entry.to_line() + "\n"
        with readable_disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                file.write(line.encode())
        self._torn = False
        self.entries[entry.key] = entry

    def judged(self, key: str) -> bool:
        """Whether the photo was kept or rejected before."""
        return key in self.entries and self.entries[key].outcome != "failed"

    def photos(self) -> Iterator[ReplayPhoto]:
        """The photos that were kept, in order."""
        for entry in self.entries.values():
            if entry.photo:
                yield entry.photo


def sibling_journals(folder: Path) -> Iterator[Journal]:
    """The journals of the other classes, whose folders are beside `folder`."""
    for path in sorted(folder.parent.glob(f"*/{JOURNAL_NAME}")):
        if path.parent != folder:
            yield Journal(path)


def _whole_entries(text: bytes) -> Iterator[Entry]:
    for line in text.split(b"\n"):
        try:
            yield Entry.from_line(line.decode())
        except ValueError:
            continue
