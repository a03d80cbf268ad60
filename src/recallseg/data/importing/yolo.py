"""YOLO's segmentation labels: `data.yaml` and a text file of outlines for each photo.

A line is the number of a class and the corners of one outline, as shares of the photo's width and
height. The order of the lines means nothing, so smaller objects lie over larger ones.
"""

import os
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from recallseg.data.folder import PHOTO_ENDINGS
from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.photo_files import PhotoSize
from recallseg.data.importing.reading import parsed, read_text, read_yaml
from recallseg.data.importing.regions import Outlines, box
from recallseg.data.importing.scenes import Drawing, Findings, Scene, Shape, Skips, drawn_classes
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError

SPLITS = ("train", "val", "test")
OVERSHOOT = 0.01
"""So far beyond the photo a corner may lie, as tools round; it is cut off."""


class DataYaml(BaseModel):
    """What is read of `data.yaml`: names of the classes, and folders or lists for each split."""

    names: list[str] | dict[int, str]
    path: str | None = None
    train: str | list[str] | None = None
    val: str | list[str] | None = None
    test: str | list[str] | None = None


def _yaml_files(source: SourceFolder) -> list[Path]:
    paths = [path for path in source.ending(".yaml", ".yml") if path.parent == source.root]
    return [path for path in paths if "names" in _keys(path) and _keys(path) & {*SPLITS, "nc"}]


def _keys(path: Path) -> set[str]:
    value = read_yaml(path)
    return set(map(str, value)) if isinstance(value, dict) else set()


def read(source: SourceFolder) -> Findings:
    """The photos of every split that `data.yaml` names; those without labels are background."""
    paths = _yaml_files(source)
    if len(paths) != 1:
        raise RecallsegError(
            f"{source.root} holds {len(paths) or 'no'} files such as data.yaml, with 'names' and "
            "'train' or 'val'; name the right one."
        )
    content = parsed(DataYaml, read_yaml(paths[0]), paths[0])
    numbered = (
        enumerate(content.names) if isinstance(content.names, list) else content.names.items()
    )
    names = dict(sorted(numbered))
    findings = Findings(list(names.values()), [])
    split_of: dict[Path, str | None] = {}
    for split, entry in _entries(source, content):
        for photo in _photos(source, content.path, entry, paths[0]):
            if photo in split_of:
                reason = f"is in {split_of[photo]} already, and not taken for {split}"
                findings.skips.add("photo", reason, photo)
            else:
                split_of[photo] = split
                findings.scenes.append(_scene(source, photo, split, names, findings.skips))
    findings.classes = drawn_classes(findings.classes, findings.scenes)
    return findings


def _entries(source: SourceFolder, content: DataYaml) -> list[tuple[str | None, str]]:
    """Folders or lists with their splits; without any, the folder of photos."""
    entries: list[tuple[str | None, str]] = []
    for split in SPLITS:
        named = getattr(content, split) or []
        entries += [(split, entry) for entry in ([named] if isinstance(named, str) else named)]
    return entries or [(None, "images" if (source.root / "images").is_dir() else ".")]


def _photos(source: SourceFolder, base: str | None, entry: str, yaml_path: Path) -> list[Path]:
    """The photos of a folder or of a text file with one path per line."""
    place = _inside(source, base, entry)
    if place is None:
        raise RecallsegError(
            f"{yaml_path} names '{entry}', which is not in {source.root}; put the photos there or "
            "correct the entry."
        )
    if place.is_dir():
        inside = sorted(path for path in place.rglob("*") if path.is_file())
        return [path for path in inside if path.suffix.lower() in PHOTO_ENDINGS]
    photos = []
    for line in filter(None, map(str.strip, read_text(place).splitlines())):
        photo = source.find_photo(line, place.parent)
        if photo is None:
            raise RecallsegError(f"{place} lists {line}, which does not exist.")
        photos.append(photo)
    return photos


def _inside(source: SourceFolder, base: str | None, entry: str) -> Path | None:
    """Where an entry leads inside of the dataset; `../` in front of it, as some tools write it,
    and a `path` of another machine do not lead out of it."""
    plain = entry.replace("\\", "/")
    while plain.startswith(("../", "./")):
        plain = plain.split("/", 1)[1]
    for start in (base or ".", "."):
        place = Path(os.path.normpath(source.root / start / plain))
        if source.holds(place) and place.exists():
            return place
    return None


def label_path(photo: Path) -> Path:
    """Where the labels of a photo are: in `labels/` for `images/`, or beside it."""
    parts = list(photo.parts)
    places = [place for place, part in enumerate(parts[:-1]) if part == "images"]
    if places:
        parts[places[-1]] = "labels"
    return Path(*parts).with_suffix(".txt")


def _scene(
    source: SourceFolder, photo: Path, split: str | None, names: dict[int, str], skips: Skips
) -> Scene:
    path, shapes = label_path(photo), []
    size = PhotoSize.of(photo).upright
    if path.is_file():
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            where = f"{path}, line {number}"
            if line.strip() and (shape := _shape(line, names, size, where, source, skips)):
                shapes.append(shape)
    return Scene(photo, Drawing(tuple(shapes), str(path), largest_first=True), split, size)


def _shape(
    line: str,
    names: dict[int, str],
    size: tuple[int, int],
    where: str,
    source: SourceFolder,
    skips: Skips,
) -> Shape | None:
    try:
        number, *shares = [float(word) for word in line.split()]
        corners = np.array(shares).reshape(-1, 2)
    except ValueError as error:
        raise RecallsegError(
            f"{where} is not a class number and pairs of coordinates: {line[:60]!r}."
        ) from error
    if number not in names:
        raise RecallsegError(
            f"{where} has the class {number:g}; data.yaml names {min(names)} to {max(names)}."
        )
    if not np.all((corners >= -OVERSHOOT) & (corners <= 1 + OVERSHOOT)):
        raise RecallsegError(
            f"{where} has coordinates outside of 0–1; they are shares of the photo's size."
        )
    name = names[int(number)]
    if len(corners) == 2 and source.options.boxes:
        (middle, sides) = corners * np.array(size)
        return Shape(name, box(*(middle - sides / 2), *(middle + sides / 2)))
    if len(corners) < 3:
        skips.add("object", "has no outline, only a box (--boxes fills it)", where)
        return None
    return Shape(name, Outlines((corners * np.array(size),)))


FORMAT = ImportFormat(
    title="YOLO segmentation",
    recognise=lambda source: bool(_yaml_files(source)),
    read=read,
)
