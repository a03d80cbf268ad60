"""The drawn world as datasets of other tools, by the descriptions of their formats."""

import json
from pathlib import Path

import numpy as np
import yaml
from PIL import Image
from pycocotools import mask as coco_masks
from scipy.ndimage import binary_fill_holes, maximum_filter, minimum_filter
from skimage.measure import find_contours, label

from recallseg.data import open_dataset
from recallseg.data.toy.writing import write_scenes


def draw(root: Path, counts=None, classes=("bus", "cat", "sheep"), size=(96, 72)):
    """A few small scenes as a folder dataset, opened as one for each split."""
    counts = counts or {"train": 4, "val": 2}
    write_scenes(root, counts, classes=classes, size=size)
    return {split: open_dataset("folder", split, root) for split in counts}


def pieces(hits):
    """Connected parts without holes that make up a mask (H, W): those with holes are cut."""
    parts = label(hits, connectivity=1)
    for number in range(1, parts.max() + 1):
        part = parts == number
        holes = binary_fill_holes(part) & ~part
        if holes.any():
            column = np.flatnonzero(holes.any(axis=0))[0]
            left = np.arange(part.shape[1]) <= column
            yield from pieces(part & left)
            yield from pieces(part & ~left)
        else:
            yield part


def outline(part):
    """The corners (N, 2) around a part without holes, halfway between its pixels and others."""
    [points] = find_contours(np.pad(part, 1).astype(float), 0.5, fully_connected="low")
    return points[:-1, ::-1] - 0.5


def objects(dataset, row):
    """The name and the mask of each thing in a photo; what does not count is called void."""
    mask = dataset.read_mask(row)
    for value in np.unique(mask[mask > 0]):
        yield "void" if value == 255 else dataset.classes[value], mask == value


def write_coco(root: Path, splits) -> Path:
    """`annotations/instances_SPLIT.json`: polygons, and run lengths of both kinds for crowds."""
    for split, dataset in splits.items():
        names = [*dataset.classes[1:], "unused", "void"]
        content = {"images": [], "annotations": [], "categories": []}
        content["categories"] = [{"id": 10 * i + 7, "name": n} for i, n in enumerate(names)]
        for row, pair in enumerate(dataset.pairs):
            with Image.open(pair.photo) as photo:
                width, height = photo.size
                save(photo, root / f"{split}2017" / f"{pair.stem}.png")
            image = {"id": row, "file_name": f"{pair.stem}.png", "width": width, "height": height}
            content["images"].append(image)
            for name, hits in objects(dataset, row):
                for segmentation in coco_segmentations(hits, len(content["annotations"]) % 3):
                    content["annotations"].append(
                        {
                            "id": len(content["annotations"]) + 1,
                            "image_id": row,
                            "category_id": 10 * names.index(name) + 7,
                            "segmentation": segmentation,
                            "iscrowd": int(isinstance(segmentation, dict)),
                        }
                    )
        path = root / "annotations" / f"instances_{split}2017.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    return root


def coco_segmentations(hits, kind):
    """One part of a photo as polygons, or as run lengths of pycocotools."""
    if kind == 0:
        return [[outline(part).ravel().tolist() for part in pieces(hits)]]
    compressed = coco_masks.encode(np.asfortranarray(hits.astype(np.uint8)))
    if kind == 1:
        return [compressed | {"counts": compressed["counts"].decode()}]
    flat = hits.ravel(order="F")
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flat, [not flat[-1]]])))
    counts = np.diff(np.concatenate([[0], edges])).tolist()
    return [{"size": list(hits.shape), "counts": counts}]


def write_yolo(root: Path, splits) -> Path:
    """`data.yaml` with `images/SPLIT` and `labels/SPLIT`."""
    names: list[str] = []
    for split, dataset in splits.items():
        names = [*dataset.classes[1:], "void"]
        for row, pair in enumerate(dataset.pairs):
            lines = []
            with Image.open(pair.photo) as photo:
                size = photo.size
                save(photo, root / "images" / split / f"{pair.stem}.png")
            for name, hits in objects(dataset, row):
                for part in pieces(hits):
                    shares = (outline(part) / size).clip(0, 1).ravel()
                    words = " ".join(f"{share:.6g}" for share in shares)
                    lines.append(f"{names.index(name)} {words}\n")
            path = root / "labels" / split / f"{pair.stem}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(lines))
    content = {"path": "/somewhere/else", "names": dict(enumerate(names))}
    content |= {split: f"../images/{split}" for split in splits}
    (root / "data.yaml").write_text(yaml.safe_dump(content))
    return root


def write_labelme(root: Path, splits) -> Path:
    """A JSON beside each photo, in a folder for each split."""
    for split, dataset in splits.items():
        for row, pair in enumerate(dataset.pairs):
            with Image.open(pair.photo) as photo:
                width, height = photo.size
                save(photo, root / split / f"{pair.stem}.png")
            shapes = [
                {"label": name, "points": outline(part).tolist(), "shape_type": "polygon"}
                for name, hits in objects(dataset, row)
                for part in pieces(hits)
            ]
            about = {"version": "5.8.1", "flags": {}, "imageData": None, "shapes": shapes}
            about |= {"imagePath": f"{pair.stem}.png", "imageWidth": width, "imageHeight": height}
            (root / split / f"{pair.stem}.json").write_text(json.dumps(about))
    return root


WRITERS = {"coco": write_coco, "yolo": write_yolo, "labelme": write_labelme}


def save(image, path: Path) -> None:
    """Save an image into a folder that may not exist yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


def beside_edges(mask):
    """The pixels (H, W) that have another label within a pixel."""
    return maximum_filter(mask, 3) != minimum_filter(mask, 3)


def assert_alike(mask, drawn):
    """Two masks differ at most in pixels that lie at an edge of the drawn one."""
    assert mask.shape == drawn.shape
    wrong = (mask != drawn) & ~beside_edges(drawn)
    assert not wrong.any(), f"{wrong.sum()} pixels away from edges differ"
