"""LabelMe's JSON, one file for each photo: polygons, rectangles, circles and masks.

Later shapes lie over earlier ones, as LabelMe's own tools draw them.
"""

import math
from base64 import b64decode
from io import BytesIO
from pathlib import Path, PureWindowsPath

import numpy as np
from PIL import Image
from pydantic import BaseModel, FiniteFloat

from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.photo_files import MOST_PIXELS
from recallseg.data.importing.reading import parsed, split_in
from recallseg.data.importing.regions import Outlines, Patch, Region, box, ellipse, outline
from recallseg.data.importing.scenes import Drawing, Findings, Scene, Shape, Skips, drawn_classes
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError

KEYS = ("shapes", "imagePath")


class LabelmeShape(BaseModel):
    """One shape; what its points are depends on its type."""

    label: str
    points: list[tuple[FiniteFloat, FiniteFloat]]
    shape_type: str | None = None
    mask: str | None = None


class LabelmeFile(BaseModel):
    """What is read of a file."""

    shapes: list[LabelmeShape]
    imagePath: str
    imageWidth: int | None = None
    imageHeight: int | None = None
    imageData: str | None = None


def read(source: SourceFolder) -> Findings:
    """The photos that have a file; their folders may be named for splits."""
    names: list[str] = []
    scenes, skips = [], Skips()
    for path in source.json_with(*KEYS):
        content = parsed(LabelmeFile, source.json(path), path)
        names += [shape.label for shape in content.shapes]
        inner = path.relative_to(source.root).parts[:-1]
        split = split_in(*reversed(inner))
        photo, is_inside = _photo(source, content, path, split)
        if photo is None:
            skips.add("photo", "there is no such file", f"{path.name}: {content.imagePath}")
            skips.add("object", "its photo is missing", path.name, len(content.shapes))
            continue
        width, height = content.imageWidth, content.imageHeight
        drawing = Drawing(tuple(_shapes(content, path, skips)), str(path))
        size = (width, height) if width and height else None
        name = PureWindowsPath(content.imagePath).stem
        scenes.append(Scene(photo, drawing, split, size, name, is_temporary=is_inside))
    if not scenes and not skips.counts:
        raise RecallsegError(f"{source.root} holds no JSON file with {' and '.join(KEYS)}.")
    return Findings(sorted(drawn_classes(names, scenes)), scenes, skips)


def _photo(
    source: SourceFolder, content: LabelmeFile, path: Path, split: str | None
) -> tuple[Path | None, bool]:
    """The photo of a file, and whether it lies inside of it; one on disk is preferred."""
    try:
        photo = source.find_photo(content.imagePath, path.parent, split)
    except RecallsegError:
        if not content.imageData:
            raise
        photo = None
    if photo or not content.imageData:
        return photo, False
    try:
        number = source.files.index(path)
        return source.unpack_photo(b64decode(content.imageData, validate=True), number), True
    except ValueError as error:
        raise RecallsegError(f"{path} has a photo that is not in base64.") from error


def _shapes(content: LabelmeFile, path: Path, skips: Skips) -> list[Shape]:
    shapes = []
    for number, shape in enumerate(content.shapes, start=1):
        where = f"{path}, shape {number}"
        kind = shape.shape_type or "polygon"
        region = _region(kind, shape, where)
        if region is None:
            skips.add("object", f"a {kind} of {len(shape.points)} points has no area", where)
        else:
            shapes.append(Shape(shape.label, region))
    return shapes


def _region(kind: str, shape: LabelmeShape, where: str) -> Region | None:
    points = outline([value for point in shape.points for value in point])
    if kind == "polygon" and len(points) >= 3:
        return Outlines((points,))
    if kind == "mask" and len(points) == 2:
        left, top = points.min(axis=0).astype(int).tolist()
        return Patch(_decoded(shape.mask, where), left, top)
    if kind == "circle" and len(points) == 2:
        radius = math.dist(*points)
        return ellipse((points[0, 0], points[0, 1]), (radius, radius))
    if kind == "rectangle" and len(points) in (2, 4):
        return box(*points.min(axis=0), *points.max(axis=0))
    if kind == "oriented_rectangle" and len(points) == 4:
        return Outlines((points,))
    return None


def _decoded(text: str | None, where: str) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """The PNG of a mask shape."""
    try:
        with Image.open(BytesIO(b64decode(text or "", validate=True)), formats=["PNG"]) as image:
            if image.width * image.height > MOST_PIXELS:
                raise RecallsegError(f"{where} has a mask of {image.width}×{image.height} px.")
            return np.asarray(image.convert("L")) > 0
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise RecallsegError(f"{where} has a mask that is not a PNG in base64.") from error


FORMAT = ImportFormat(
    title="LabelMe JSON",
    recognise=lambda source: bool(source.json_with(*KEYS)),
    read=read,
)
