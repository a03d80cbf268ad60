"""Lists of photos per step, as papers ship them: `train-0.npy`, `step_1.txt` and the like."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from recallseg.data.kinds import found_path
from recallseg.errors import RecallsegError
from recallseg.files import content_key, file_digest

ENDINGS = (".npy", ".txt")
PREFERRED = "train"
"""Some authors keep lists of validation photos beside those of training photos."""


def read_lists(folder: Path, steps: int, stems: Sequence[str]) -> list[frozenset[str]]:
    """The photos of each step, by the lists in a folder; `stems` is the whole training split.

    A list is a `.npy` of indices into the split or of names, or a `.txt` of one of them per line.
    """
    files = list_files(folder)
    last = steps - 1
    for step in range(steps):
        if step not in files:
            raise RecallsegError(
                f"{folder} has no list of step {step}; expected one file for each of the steps 0 "
                f"to {last}, whose name ends in the step's number, such as train-{step}.npy."
            )
    if more := [step for step in files if step > last]:
        raise RecallsegError(
            f"{folder} has {files[more[0]].name}, but the scenario's steps are 0 to {last}; give "
            "the lists of this scenario."
        )
    return [_resolved(files[step], stems) for step in range(steps)]


def lists_key(folder: Path) -> str:
    """A hash of what the lists in a folder hold, wherever it lies and whatever they are called."""
    digests = [(step, file_digest(path)) for step, path in sorted(list_files(folder).items())]
    return content_key(digests)


def list_files(folder: Path) -> dict[int, Path]:
    """The one list of each step in a folder: the files whose names end in the step's number."""
    folder = found_path(folder)
    if not folder.is_dir():
        raise RecallsegError(f"scenario.lists names {folder}, which is no folder of lists.")
    candidates: dict[int, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        number = re.search(r"\d+$", path.stem)
        if number and path.suffix in ENDINGS and not path.name.startswith("."):
            candidates.setdefault(int(number[0]), []).append(path)
    return {step: _only(folder, step, paths) for step, paths in candidates.items()}


def _only(folder: Path, step: int, paths: list[Path]) -> Path:
    preferred = [path for path in paths if path.name.startswith(PREFERRED)]
    chosen = preferred if len(paths) > 1 and preferred else paths
    if len(chosen) > 1:
        names = ", ".join(path.name for path in chosen)
        raise RecallsegError(f"{folder} has several lists of step {step}: {names}; leave one.")
    return chosen[0]


def _resolved(path: Path, stems: Sequence[str]) -> frozenset[str]:
    """The stems that a list names; what is wrong with it is one sentence."""
    entries = _read_array(path) if path.suffix == ".npy" else _read_lines(path)
    if not entries:
        raise RecallsegError(f"The list {path} is empty; every step needs photos.")
    photos = [*_photos(entries, stems, path)]
    stem, times = Counter(photos).most_common(1)[0]
    if times > 1:
        raise RecallsegError(f"The list {path} has '{stem}' {times} times; leave one.")
    return frozenset(photos)


def _photos(entries: Sequence[str | int], stems: Sequence[str], path: Path) -> Iterable[str]:
    if indices := [entry for entry in entries if isinstance(entry, int)]:
        return _at(indices, stems, path)
    names, members = [str(entry) for entry in entries], set(stems)
    if all(name.isdecimal() and name not in members for name in names):
        return _at([int(name) for name in names], stems, path)
    return (_stem(name, members, path) for name in names)


def _at(indices: Sequence[int], stems: Sequence[str], path: Path) -> list[str]:
    if outside := [index for index in indices if not 0 <= index < len(stems)]:
        raise RecallsegError(
            f"The list {path} has the index {outside[0]}; the training split's {len(stems):,} "
            f"photos are 0 to {len(stems) - 1}."
        )
    return [stems[index] for index in indices]


def _stem(name: str, members: set[str], path: Path) -> str:
    """The photo that a line means: a stem, a file name or a path, alone or with its mask's."""
    for words in (name, name.split()[0]):
        file = words.replace("\\", "/").rsplit("/", 1)[-1]
        for stem in (file, Path(file).stem):
            if stem in members:
                return stem
    raise RecallsegError(
        f"The list {path} names '{name}', which is no photo of the training split."
    )


def _read_lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecallsegError(f"The list {path} cannot be read: {error}.") from error
    return [line.strip() for line in lines if line.strip()]


def _read_array(path: Path) -> list[str] | list[int]:
    """The whole numbers or the names in an array; nothing is ever unpickled."""
    try:
        with path.open("rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        reason = (str(error).splitlines() or [""])[0].rstrip(".") or type(error).__name__
        raise RecallsegError(f"The list {path} cannot be read: {reason}.") from error
    if array.ndim != 1 or array.dtype.kind not in "iuUS":
        raise RecallsegError(
            f"The list {path} is no row of whole numbers or names, but an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    if array.dtype.kind in "iu":
        return [int(index) for index in array]
    text = np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
    return [name.strip() for name in text.tolist() if name.strip()]
