"""Label Studio's JSON: tasks with brush masks, polygons, ellipses and rectangles.

A task's last annotation that was not cancelled counts, or without any its last prediction. Later
regions lie over earlier ones.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, FiniteFloat

from recallseg.data.brush import unpacked_runs
from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.photo_files import MOST_PIXELS
from recallseg.data.importing.reading import parsed, split_in
from recallseg.data.importing.regions import Outlines, Patch, Region, box, ellipse, outline
from recallseg.data.importing.scenes import Drawing, Findings, Scene, Shape, Skips, drawn_classes
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError

UPLOADED = re.compile(r"^[0-9a-f]{8}-")
"""What Label Studio puts before the name of an uploaded photo."""


class RegionValue(BaseModel):
    """Where a region is, in percent of the photo, and what it is called under its type's name."""

    model_config = ConfigDict(extra="allow")
    points: list[tuple[FiniteFloat, FiniteFloat]] | None = None
    x: FiniteFloat = 0
    y: FiniteFloat = 0
    width: FiniteFloat = 0
    height: FiniteFloat = 0
    radiusX: FiniteFloat = 0
    radiusY: FiniteFloat = 0
    rotation: FiniteFloat = 0
    rle: list[int] | None = None


class Result(BaseModel):
    """One region, or an answer that is none."""

    type: str
    value: RegionValue
    original_width: int | None = None
    original_height: int | None = None


class Answer(BaseModel):
    """An annotation or a prediction."""

    result: list[Result] = []
    was_cancelled: bool = False


class Task(BaseModel):
    """One photo."""

    data: dict[str, Any]
    annotations: list[Answer] = []
    predictions: list[Answer] = []


def _paths(source: SourceFolder) -> list[Path]:
    return [path for path in source.ending(".json") if _has_tasks(source.json(path))]


def _has_tasks(value: Any) -> bool:  # noqa: ANN401
    first = value[0] if isinstance(value, list) and value else None
    is_task = isinstance(first, dict) and isinstance(first.get("data"), dict)
    return is_task and bool({"annotations", "predictions"} & set(first or ()))


def read(source: SourceFolder) -> Findings:
    """The tasks of all files; those without regions are background."""
    names: list[str] = []
    scenes: list[Scene] = []
    skips = Skips()
    paths = _paths(source)
    if not paths:
        raise RecallsegError(f"{source.root} holds no JSON file with a list of tasks.")
    for path in paths:
        for number, task in enumerate(parsed(list[Task], source.json(path), path), start=1):
            where = f"{path.name}, task {number}"
            photo = _photo(source, task, path, where)
            answers = [answer for answer in task.annotations if not answer.was_cancelled]
            results = (answers or task.predictions or [Answer()])[-1].result
            if photo is None:
                skips.add("photo", "there is no such file", where)
                skips.add("object", "its photo is missing", where, len(results))
                continue
            shapes = [shape for result in results if (shape := _shape(result, where, skips))]
            names += [shape.name for shape in shapes]
            sizes = [(r.original_width, r.original_height) for r in results]
            size = next(((w, h) for w, h in sizes if w and h), None)
            scenes.append(Scene(photo, Drawing(tuple(shapes), where), split_in(path.stem), size))
    return Findings(sorted(drawn_classes(names, scenes)), scenes, skips)


def _photo(source: SourceFolder, task: Task, path: Path, where: str) -> Path | None:
    """The photo that a task's address leads to; how Label Studio serves it does not matter."""
    address = next((value for value in task.data.values() if isinstance(value, str)), None)
    if address is None:
        raise RecallsegError(f"{where} has no address of a photo in 'data'.")
    parts = urlsplit(address)
    local = parse_qs(parts.query).get("d")
    name = (local[0] if local else unquote(parts.path)).lstrip("/")
    last = name.rsplit("/", 1)[-1]
    for candidate in (name, last, UPLOADED.sub("", last)):
        if photo := source.find_photo(candidate.lstrip("/"), path.parent):
            return photo
    return None


def _shape(result: Result, where: str, skips: Skips) -> Shape | None:
    labels = (result.value.model_extra or {}).get(result.type)
    region = _region(result, where)
    if region is None:
        skips.add("object", f"a result of type {result.type} has no area", where)
    elif not isinstance(labels, list) or not labels:
        skips.add("object", "has no label", where)
    else:
        return Shape(str(labels[0]), region)
    return None


def _region(result: Result, where: str) -> Region | None:
    value, width, height = result.value, result.original_width, result.original_height
    kind = result.type.removesuffix("labels")
    if kind not in ("polygon", "brush", "ellipse", "rectangle"):
        return None
    if not width or not height or not 0 < width * height <= MOST_PIXELS:
        raise RecallsegError(f"{where} has a region without the size of its photo.")
    across, down = width / 100, height / 100
    if kind == "brush" and value.rle:
        try:
            return Patch(unpacked_runs(value.rle, height, width), 0, 0)
        except ValueError as error:
            raise RecallsegError(f"{where} has a brush mask that is broken: {error}.") from error
    if kind == "polygon" and value.points and len(value.points) >= 3:
        return Outlines((outline([c for x, y in value.points for c in (x * across, y * down)]),))
    if kind == "ellipse":
        middle = (value.x * across, value.y * down)
        return ellipse(middle, (value.radiusX * across, value.radiusY * down), value.rotation)
    if kind == "rectangle":
        left, top = value.x * across, value.y * down
        right, bottom = left + value.width * across, top + value.height * down
        return box(left, top, right, bottom, value.rotation, about_corner=True)
    return None


FORMAT = ImportFormat(
    title="Label Studio JSON", recognise=lambda source: bool(_paths(source)), read=read
)
