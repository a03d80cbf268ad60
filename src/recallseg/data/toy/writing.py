"""Drawn pictures as files: scenes as a dataset of photos and masks, pictures in class folders."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from recallseg.data.dataset import Mask
from recallseg.data.shrink import save_mask
from recallseg.data.toy.portraits import SUBJECTS, draw_plate, draw_snapshot
from recallseg.data.toy.scenes import MAINS, SIZE, draw_scene
from recallseg.data.voc import CLASSES
from recallseg.errors import RecallsegError, unknown_name
from recallseg.files import atomic_path, cache_root
from recallseg.labels import VOID
from recallseg.progress import map_files

COUNTS: Mapping[str, int] = {"train": 1200, "val": 300}
SPLITS = tuple(COUNTS)
PICTURES = 200
"""The number of pictures of each of a generator's classes."""


def drawn_world() -> Path:
    """The default world as a folder of the cache, drawn in half a minute when first asked for."""
    return _drawn("scenes", lambda folder: write_scenes(folder, COUNTS))


def drawn_pictures() -> Path:
    """The generator's pictures as a folder of the cache, drawn when first asked for."""
    return _drawn("pictures", lambda folder: write_pictures(folder, PICTURES))


def _drawn(kind: str, write: Callable[[Path], object]) -> Path:
    """A folder named by a hash of the code that draws it; it appears only when it is complete."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = cache_root() / "toy" / f"{kind}-{code}"
    if not folder.is_dir():
        try:
            write(folder)
        except (OSError, RecallsegError):
            if not folder.is_dir():
                raise
    return folder


def write_scenes(
    folder: Path,
    counts: Mapping[str, int],
    *,
    seed: int = 0,
    size: tuple[int, int] = SIZE,
    classes: Sequence[str] = (),
) -> None:
    """Write scenes of each split in the layout of a folder dataset, which must not exist.

    Given `classes`, only scenes made for one of them are written, and only they are labelled.
    """
    _refuse_existing(folder)
    labelled = _checked(classes, CLASSES[1:], "class") or list(CLASSES[1:])
    lookup = np.zeros(256, dtype=np.uint8)
    lookup[[CLASSES.index(name) for name in labelled]] = range(1, len(labelled) + 1)
    lookup[VOID] = VOID
    with atomic_path(folder) as target:
        for name in ("images", "masks"):
            (target / name).mkdir(parents=True)
        (target / "classes.txt").write_text(
            "\n".join(["background", *labelled, ""]), encoding="utf-8"
        )
        for split, count in counts.items():
            jobs = _scene_numbers(labelled, count)

            def write(number: int, split: str = split) -> str:
                photo, mask = draw_scene(seed, number, size, SPLITS.index(split))
                return _save_pair(target, f"{split}-{number:05}", photo, lookup[mask])

            stems = map_files(write, jobs, f"Drawing {split}")
            (target / f"{split}.txt").write_text("\n".join([*stems, ""]), encoding="utf-8")


def _scene_numbers(labelled: Sequence[str], count: int) -> list[int]:
    """The first `count` scenes whose main thing is of one of the classes."""
    mains = [index for index, name in enumerate(MAINS) if name in labelled]
    return [mains[n % len(mains)] + len(MAINS) * (n // len(mains)) for n in range(count)]


def _save_pair(target: Path, stem: str, photo: Mask, mask: Mask) -> str:
    Image.fromarray(photo).save(target / "images" / f"{stem}.png", compress_level=3)
    save_mask(target / "masks" / f"{stem}.png", mask)
    return stem


def write_pictures(
    folder: Path, per_class: int, *, seed: int = 0, side: int = 64, subjects: Sequence[str] = ()
) -> int:
    """Write a folder of PNGs per subject, as `recallseg gan train` reads them; gives their number.

    `folder` must not exist; it appears only when it is complete.
    """
    _refuse_existing(folder)
    drawn_subjects = _checked(subjects, list(SUBJECTS), "subject") or list(SUBJECTS)
    jobs = [(subject, number) for subject in drawn_subjects for number in range(per_class)]
    with atomic_path(folder) as target:
        for subject in drawn_subjects:
            (target / subject).mkdir(parents=True)

        def write(job: tuple[str, int]) -> None:
            picture = Image.fromarray(draw_plate(seed, *job, side))
            picture.save(target / job[0] / f"{job[1]:05}.png")

        map_files(write, jobs, "Drawing pictures")
    return len(jobs)


def write_snapshots(
    folder: Path, per_class: int, *, seed: int = 0, classes: Sequence[str] = ()
) -> int:
    """Write a folder of photos per class, as a replay source reads them; gives their number.

    They look like those of the photo site. `folder` must not exist.
    """
    _refuse_existing(folder)
    names = _checked(classes, CLASSES[1:], "class") or list(CLASSES[1:])
    jobs = [(name, number) for name in names for number in range(per_class)]
    with atomic_path(folder) as target:
        for name in names:
            (target / name).mkdir(parents=True)

        def write(job: tuple[str, int]) -> None:
            photo = Image.fromarray(draw_snapshot(seed, job[1], (job[0],), SIZE))
            photo.save(target / job[0] / f"{job[1]:05}.png")

        map_files(write, jobs, "Drawing photos")
    return len(jobs)


def _refuse_existing(folder: Path) -> None:
    if folder.exists():
        raise RecallsegError(f"{folder} exists already; name a new folder.")


def _checked(names: Sequence[str], allowed: Sequence[str], kind: str) -> list[str]:
    """The names in the order of `allowed`; any other name is an error."""
    for name in names:
        if name not in allowed:
            raise unknown_name(kind, name, allowed)
    return [name for name in allowed if name in names]
