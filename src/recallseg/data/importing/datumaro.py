"""Datumaro's JSON, one file for each subset: polygons, masks and ellipses.

Shapes are painted by their `z_order`, and in the order of the file where it is equal.
"""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, FiniteFloat

from recallseg.data.importing.coco import Rle, run_lengths_region
from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.reading import parsed, split_in
from recallseg.data.importing.regions import Outlines, Region, box, ellipse, outline
from recallseg.data.importing.scenes import Drawing, Findings, Scene, Shape, Skips, drawn_classes
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError

KEYS = ("items", "categories")


class Label(BaseModel):
    """A class."""

    name: str


class Labels(BaseModel):
    """The classes; an object names its own by its place."""

    labels: list[Label] = []


class Categories(BaseModel):
    """What is read of the categories."""

    label: Labels = Labels()


class Image(BaseModel):
    """A photo; `size` is height, width."""

    path: str = ""
    size: tuple[int, int] | None = None


class DatumaroObject(BaseModel):
    """One annotation; which fields it has depends on its type."""

    type: str
    label_id: int | None = None
    z_order: int = 0
    points: list[FiniteFloat] | None = None
    bbox: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] | None = None
    rle: Rle | None = None


class Item(BaseModel):
    """One photo with its objects."""

    id: str
    annotations: list[DatumaroObject] = []
    image: Image | None = None


class DatumaroFile(BaseModel):
    """What is read of a file."""

    categories: Categories
    items: list[Item]


def read(source: SourceFolder) -> Findings:
    """The items of all subsets; those without objects are background."""
    names: list[str] = []
    scenes: list[Scene] = []
    skips = Skips()
    paths = _paths(source)
    if not paths:
        raise RecallsegError(f"{source.root} holds no JSON file of Datumaro.")
    for path in paths:
        content = parsed(DatumaroFile, source.json(path), path)
        labels = [label.name for label in content.categories.label.labels]
        names += labels
        for item in content.items:
            _add_item(source, path, item, labels, scenes, skips)
    return Findings(drawn_classes(names, scenes), scenes, skips)


def _paths(source: SourceFolder) -> list[Path]:
    return [path for path in source.json_with(*KEYS) if _is_datumaro(source.json(path))]


def _is_datumaro(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value["items"], list) and isinstance(value["categories"], dict)


def _add_item(
    source: SourceFolder,
    path: Path,
    item: Item,
    labels: list[str],
    scenes: list[Scene],
    skips: Skips,
) -> None:
    split, name = split_in(path.stem), (item.image and item.image.path) or item.id
    near = source.root / "images" / path.stem
    photo = source.find_photo(name, near if near.is_dir() else path.parent, split)
    if photo is None:
        skips.add("photo", "there is no such file", name)
        skips.add("object", "its photo is missing", name, len(item.annotations))
        return
    shapes: list[Shape] = []
    for found in sorted(item.annotations, key=lambda each: each.z_order):
        where = f"{path.name}, {item.id}"
        region = _region(found, where, source.options.boxes)
        if region is None:
            skips.add("object", _why_left_out(found.type), where)
        elif found.label_id is None or not 0 <= found.label_id < len(labels):
            skips.add("object", "its class is not in the file", where)
        else:
            shapes.append(Shape(labels[found.label_id], region))
    size = item.image.size[::-1] if item.image and item.image.size else None
    scenes.append(Scene(photo, Drawing(tuple(shapes), f"{path.name}, {item.id}"), split, size))


def _why_left_out(kind: str) -> str:
    if kind == "bbox":
        return "has no outline, only a box (--boxes fills it)"
    return f"a {kind} has no area"


def _region(found: DatumaroObject, where: str, boxes: bool) -> Region | None:
    points = found.points or []
    if found.type == "polygon" and len(points) >= 6 and len(points) % 2 == 0:
        return Outlines((outline(points),))
    if found.type == "mask" and found.rle:
        return run_lengths_region(found.rle.counts, found.rle.size, where)
    if found.type == "ellipse" and len(points) == 4:
        left, top, right, bottom = points
        middle = (left + right) / 2, (top + bottom) / 2
        return ellipse(middle, (abs(right - left) / 2, abs(bottom - top) / 2))
    if found.type == "bbox" and found.bbox and boxes:
        left, top, width, height = found.bbox
        return box(left, top, left + width, top + height)
    return None


FORMAT = ImportFormat(
    title="Datumaro JSON", recognise=lambda source: bool(_paths(source)), read=read
)
