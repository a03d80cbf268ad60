"""COCO's JSON: polygons and run lengths of both kinds, in one file or one for each split.

COCO does not say which of two objects is in front, so the smaller one is. A crowd is a
region of its class like any other.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, FiniteFloat

from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.reading import parsed, split_in
from recallseg.data.importing.regions import Outlines, Region, RunLengths, box, outline
from recallseg.data.importing.scenes import Drawing, Findings, Scene, Shape, Skips, drawn_classes
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.data.rle import counts_of
from recallseg.errors import RecallsegError

KEYS = ("images", "annotations", "categories")
Side = Annotated[int, Field(gt=0)]


class Category(BaseModel):
    """A class."""

    id: int
    name: str


class Photo(BaseModel):
    """A photo, with the size that its annotations are for."""

    id: int | str
    file_name: str
    width: Side | None = None
    height: Side | None = None


class Rle(BaseModel):
    """Run lengths: a list of counts, or COCO's string of them; `size` is height, width."""

    counts: list[int] | str
    size: tuple[Side, Side]


class Annotation(BaseModel):
    """One object."""

    id: int | str | None = None
    image_id: int | str
    category_id: int
    segmentation: list[list[FiniteFloat]] | Rle | None = None
    bbox: list[FiniteFloat] | None = None


class CocoFile(BaseModel):
    """What is read of a COCO file."""

    images: list[Photo]
    annotations: list[Annotation]
    categories: list[Category]


def read(source: SourceFolder) -> Findings:
    """The photos of all files; files for keypoints or captions do not count beside instances."""
    paths = source.json_with(*KEYS)
    if not paths:
        raise RecallsegError(f"{source.root} holds no JSON file with {', '.join(KEYS)}.")
    instances = [path for path in paths if "instances" in path.name.lower()]
    findings = Findings([], [])
    for path in instances or paths:
        _add_file(source, path, findings)
    findings.classes = drawn_classes(findings.classes, findings.scenes)
    return findings


def _add_file(source: SourceFolder, path: Path, findings: Findings) -> None:
    content = parsed(CocoFile, source.json(path), path)
    names = {category.id: category.name for category in content.categories}
    findings.classes += [names[number] for number in sorted(names)]
    split = split_in(path.stem, path.parent.name)
    objects: dict[int | str, list[Annotation]] = {photo.id: [] for photo in content.images}
    for annotation in content.annotations:
        if annotation.image_id in objects:
            objects[annotation.image_id].append(annotation)
        else:
            findings.skips.add("object", "its photo is not in the file", path)
    for photo in content.images:
        found = source.find_photo(photo.file_name, path.parent, split)
        if found is None:
            findings.skips.add("photo", "there is no such file", photo.file_name)
            missing = len(objects[photo.id])
            findings.skips.add("object", "its photo is missing", photo.file_name, missing)
            continue
        where = f"{path.name}, {photo.file_name}"
        shapes = _shapes(objects[photo.id], names, where, source.options.boxes, findings.skips)
        size = (photo.width, photo.height) if photo.width and photo.height else None
        drawing = Drawing(tuple(shapes), where, largest_first=True)
        findings.scenes.append(Scene(found, drawing, split, size))


def _shapes(
    objects: list[Annotation], names: dict[int, str], where: str, boxes: bool, skips: Skips
) -> list[Shape]:
    shapes = []
    for annotation in objects:
        called = f"{where}, object {annotation.id}"
        if annotation.category_id not in names:
            skips.add("object", "its category is not in the file", called)
        elif (region := _region(annotation, boxes, called)) is None:
            skips.add("object", "has no outline, only a box (--boxes fills it)", called)
        else:
            shapes.append(Shape(names[annotation.category_id], region))
    return shapes


def _region(annotation: Annotation, boxes: bool, called: str) -> Region | None:
    drawn = annotation.segmentation
    if isinstance(drawn, Rle):
        return run_lengths_region(drawn.counts, drawn.size, called)
    parts = tuple(outline(part) for part in drawn or () if len(part) >= 6 and len(part) % 2 == 0)
    if parts:
        return Outlines(parts)
    if boxes and annotation.bbox and len(annotation.bbox) == 4:
        left, top, width, height = annotation.bbox
        return box(left, top, left + width, top + height)
    return None


def run_lengths_region(counts: list[int] | str, size: tuple[int, int], called: str) -> RunLengths:
    """COCO's run lengths of either kind; ones that do not fit their size are an error."""
    try:
        lengths = counts_of(counts) if isinstance(counts, str) else counts
        return RunLengths(tuple(lengths), size)
    except (ValueError, RecallsegError) as error:
        raise RecallsegError(f"{called}: {str(error).rstrip('.')}.") from error


FORMAT = ImportFormat(
    title="COCO JSON",
    recognise=lambda source: bool(source.json_with(*KEYS)),
    read=read,
)
