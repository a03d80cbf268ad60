"""CVAT for images, XML 1.1: polygons, boxes, ellipses and masks.

Shapes are painted by their `z_order`, and in the order of the file where it is equal. Boxes are
filled, as CVAT itself does when it exports masks.
"""

from pathlib import Path
from typing import Annotated
from xml.etree.ElementTree import Element

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, FiniteFloat

from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.photo_files import MOST_PIXELS
from recallseg.data.importing.reading import parsed, read_xml, split_in
from recallseg.data.importing.regions import Outlines, Patch, Region, box, ellipse, outline
from recallseg.data.importing.scenes import Drawing, Findings, Scene, Shape, Skips, drawn_classes
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError

NO_AREA = ("polyline", "points", "cuboid", "skeleton", "tag")


def _numbers(text: str) -> list[str]:
    return text.replace(";", ",").split(",")


class CvatImage(BaseModel):
    """The attributes of an image."""

    name: str
    width: Annotated[int, Field(gt=0)]
    height: Annotated[int, Field(gt=0)]
    subset: str | None = None


class CvatShape(BaseModel):
    """The attributes that all shapes have."""

    label: str
    z_order: int = 0
    rotation: FiniteFloat = 0


class CvatPolygon(CvatShape):
    """A polygon: `x,y;x,y;…`."""

    points: Annotated[list[FiniteFloat], BeforeValidator(_numbers)]


class CvatBox(CvatShape):
    """A box by two corners, turned around its middle."""

    xtl: FiniteFloat
    ytl: FiniteFloat
    xbr: FiniteFloat
    ybr: FiniteFloat


class CvatEllipse(CvatShape):
    """An ellipse by its middle and its radii."""

    cx: FiniteFloat
    cy: FiniteFloat
    rx: Annotated[FiniteFloat, Field(ge=0)]
    ry: Annotated[FiniteFloat, Field(ge=0)]


class CvatMask(CvatShape):
    """Run lengths along the rows of a part of the photo, beginning with misses."""

    rle: Annotated[list[Annotated[int, Field(ge=0)]], BeforeValidator(_numbers)]
    left: int
    top: int
    width: Annotated[int, Field(gt=0)]
    height: Annotated[int, Field(gt=0)]


def _polygon(shape: Element, where: str) -> Region | None:
    points = parsed(CvatPolygon, shape.attrib, where).points
    return Outlines((outline(points),)) if len(points) >= 6 and len(points) % 2 == 0 else None


def _box(shape: Element, where: str) -> Region:
    found = parsed(CvatBox, shape.attrib, where)
    return box(found.xtl, found.ytl, found.xbr, found.ybr, found.rotation)


def _ellipse(shape: Element, where: str) -> Region:
    found = parsed(CvatEllipse, shape.attrib, where)
    return ellipse((found.cx, found.cy), (found.rx, found.ry), found.rotation)


def _mask(shape: Element, where: str) -> Region:
    found = parsed(CvatMask, shape.attrib, where)
    area = found.width * found.height
    if area > MOST_PIXELS or sum(found.rle) != area:
        raise RecallsegError(
            f"{where} has run lengths of {sum(found.rle)} pixels for a mask of "
            f"{found.width}×{found.height} px; they must add up to its size."
        )
    odd = np.arange(len(found.rle)) % 2 == 1
    hits = np.repeat(odd, found.rle).reshape(found.height, found.width)
    return Patch(hits, found.left, found.top)


REGIONS = {"polygon": _polygon, "box": _box, "ellipse": _ellipse, "mask": _mask}


def _is_cvat(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(4096)
    return b"<annotations" in start and b"<meta" in start


def read(source: SourceFolder) -> Findings:
    """The images of all files; those without shapes are background."""
    names: list[str] = []
    scenes: list[Scene] = []
    skips = Skips()
    paths = [path for path in source.ending(".xml") if source.only or _is_cvat(path)]
    if not paths:
        raise RecallsegError(f"{source.root} holds no XML file of CVAT.")
    for path in paths:
        root = read_xml(path)
        names += [label.text or "" for label in root.iterfind("meta//labels/label/name")]
        tracks = len(root.findall("track"))
        skips.add("object", "is a track of a video; export 'CVAT for images'", path, tracks)
        for image in root.iterfind("image"):
            _add_image(source, path, image, scenes, skips)
    drawn = [shape.name for scene in scenes for shape in scene.labels.shapes]  # type: ignore[attr-defined]
    return Findings(drawn_classes(names + drawn, scenes), scenes, skips)


def _add_image(
    source: SourceFolder, path: Path, image: Element, scenes: list[Scene], skips: Skips
) -> None:
    about = parsed(CvatImage, image.attrib, path)
    split = split_in(about.subset or "", path.stem)
    photo = source.find_photo(about.name, path.parent, split)
    if photo is None:
        skips.add("photo", "there is no such file", about.name)
        skips.add("object", "its photo is missing", about.name, len(image))
        return
    ordered: list[tuple[int, Shape]] = []
    for number, shape in enumerate(image, start=1):
        where = f"{path.name}, {about.name}, shape {number}"
        drawing = REGIONS.get(shape.tag)
        region = drawing(shape, where) if drawing else None
        if region is None:
            skips.add("object", f"a {shape.tag} has no area", where)
        else:
            common = parsed(CvatShape, shape.attrib, where)
            ordered.append((common.z_order, Shape(common.label, region)))
    ordered.sort(key=lambda pair: pair[0])
    labels = Drawing(tuple(shape for _, shape in ordered), f"{path.name}, {about.name}")
    scenes.append(Scene(photo, labels, split, (about.width, about.height)))


FORMAT = ImportFormat(
    title="CVAT for images 1.1",
    recognise=lambda source: any(_is_cvat(path) for path in source.ending(".xml")[:20]),
    read=read,
)
