"""From a dataset of another tool to `images/`, `masks/`, `classes.txt` and lists of the splits."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recallseg.data.decoding import read_mask
from recallseg.data.folder import check_class_names
from recallseg.data.importing.detecting import detect_format, format_called
from recallseg.data.importing.photo_files import PhotoSize, place_photo
from recallseg.data.importing.scenes import ClassIds, Findings, Scene, Skips
from recallseg.data.importing.source_folder import ImportOptions, SourceFolder
from recallseg.data.shrink import save_mask
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path
from recallseg.labels import VOID
from recallseg.progress import map_files


@dataclass(frozen=True)
class ImportReport:
    """What an import made, and what it left out."""

    format: str
    out: Path
    splits: dict[str, int]
    """Photos in each split."""
    classes: dict[str, int]
    """Photos that show each class."""
    background: int
    """Photos that show none."""
    never_seen: tuple[str, ...]
    """Classes of the dataset that no photo shows; they are left out."""
    skips: Skips


def import_dataset(
    source: Path,
    out: Path,
    *,
    format: str | None = None,
    link: bool = False,
    options: ImportOptions | None = None,
) -> ImportReport:
    """Turn a dataset into a folder that recallseg learns from; `out` appears when it is complete.

    Photos are copied, or linked to. Anything that makes no sense is an error, and nothing is
    written; what cannot be a part of a mask is left out and counted.
    """
    if out.exists():
        raise RecallsegError(f"{out} exists already; name a new folder.")
    with closing(SourceFolder(source, options)) as folder:
        name = format or detect_format(folder)
        return _write(folder, format_called(name).read(folder), out, name, link)


def _write(
    folder: SourceFolder, findings: Findings, out: Path, name: str, link: bool
) -> ImportReport:
    source = folder.only or folder.root
    if not findings.scenes:
        reasons = "; ".join(f"{what} {why}" for what, why in findings.skips.counts)
        raise RecallsegError(
            f"No photo of {source} can be used{f' ({reasons})' if reasons else ''}; if the photos "
            "are elsewhere, give their folder with --images."
        )
    check_class_names(["background", *findings.classes], source)
    stems = _stems(findings.scenes, folder)
    with atomic_path(out) as target:
        writer = _Writer(target, ClassIds(findings.classes), link)
        results = map_files(
            lambda place: writer.write(findings.scenes[place], stems[place]),
            range(len(stems)),
            "Importing",
        )
        shown: Counter[int] = Counter()
        for labels, skips in results:
            shown.update(labels)
            findings.skips.join(skips)
        seen = [label for label in range(1, len(findings.classes) + 1) if shown[label]]
        if not seen:
            raise RecallsegError(f"No photo of {source} shows a class; there is nothing to learn.")
        writer.finish(findings.classes, seen, stems)
        splits = _write_lists(target, findings.scenes, stems)
    names = findings.classes
    return ImportReport(
        format=name,
        out=out,
        splits=splits,
        classes={names[label - 1]: shown[label] for label in seen},
        background=sum(not labels for labels, _ in results),
        never_seen=tuple(n for label, n in enumerate(names, start=1) if label not in seen),
        skips=findings.skips,
    )


@dataclass(frozen=True)
class _Writer:
    """Writes photos and masks into the new folder."""

    target: Path
    ids: ClassIds
    link: bool

    def __post_init__(self) -> None:
        for name in ("images", "masks"):
            (self.target / name).mkdir(parents=True)

    def write(self, scene: Scene, stem: str) -> tuple[list[int], Skips]:
        """Write one photo and its mask; gives the classes in it, and what was left out."""
        photo, skips = PhotoSize.of(scene.photo), Skips()
        size = scene.size or photo.upright
        if size not in (photo.upright, photo.stored):
            raise RecallsegError(
                f"The labels of {scene.photo} are for {size[0]}×{size[1]} px but it has "
                f"{photo.upright[0]}×{photo.upright[1]} px; they must have the same size."
            )
        try:
            mask = scene.labels.paint(size, self.ids, skips)
        except RecallsegError as error:
            raise RecallsegError(f"{scene.photo}: {error}") from error
        if size != photo.upright:
            mask = photo.turned(mask)
        save_mask(self.mask_path(stem), mask)
        ending = scene.photo.suffix.lower()
        link = self.link and not scene.is_temporary
        place_photo(scene.photo, self.target / "images" / f"{stem}{ending}", link=link)
        labels = np.flatnonzero(np.bincount(mask.ravel(), minlength=VOID + 1)).tolist()
        return [label for label in labels if 0 < label < VOID], skips

    def mask_path(self, stem: str) -> Path:
        """Where the mask of a photo goes."""
        return self.target / "masks" / f"{stem}.png"

    def finish(self, classes: Sequence[str], seen: Sequence[int], stems: Sequence[str]) -> None:
        """Write the names of the classes that are seen, and close the gaps between their ids."""
        if len(seen) < len(classes):
            table = np.arange(256, dtype=np.uint8)
            table[list(seen)] = np.arange(1, len(seen) + 1)
            for stem in stems:
                save_mask(self.mask_path(stem), table[read_mask(self.mask_path(stem))])
        names = "".join(f"{classes[label - 1]}\n" for label in seen)
        (self.target / "classes.txt").write_text(f"background\n{names}", encoding="utf-8")


def _stems(scenes: Sequence[Scene], folder: SourceFolder) -> list[str]:
    """A name for each photo: its file's, or with its folders in front where others have it too."""
    plain = [scene.name or scene.photo.stem for scene in scenes]
    counts = Counter(stem.casefold() for stem in plain)
    stems: list[str] = []
    taken: Counter[str] = Counter()
    for scene, stem in zip(scenes, plain, strict=True):
        if counts[stem.casefold()] > 1:
            inner = [part for part in scene.photo.parent.parts if part not in folder.root.parts]
            stem = "-".join([*inner, stem])
        taken[stem.casefold()] += 1
        number = taken[stem.casefold()]
        stems.append(stem if number == 1 else f"{stem}~{number}")
    return stems


def _write_lists(target: Path, scenes: Sequence[Scene], stems: Sequence[str]) -> dict[str, int]:
    """List the photos of each split, if there is more than one; without a split they train."""
    splits: dict[str, list[str]] = {split: [] for split in ("train", "val", "test")}
    for scene, stem in zip(scenes, stems, strict=True):
        splits[scene.split or "train"].append(stem)
    splits = {split: members for split, members in splits.items() if members}
    if len(splits) == 1:
        return {"train": len(stems)}
    for split, members in splits.items():
        text = "".join(f"{stem}\n" for stem in members)
        (target / f"{split}.txt").write_text(text, encoding="utf-8")
    return {split: len(members) for split, members in splits.items()}
