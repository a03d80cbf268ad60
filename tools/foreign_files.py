"""Write `tests/foreign/`: one small dataset in the formats of other tools, by those tools.

    pip install datumaro label-studio-sdk labelme supervision ultralytics
    python tools/foreign_files.py tests/foreign

These packages bring OpenCV, Qt and versions of their own, so they are no part of the development
set-up; what they wrote is kept. `truth/` holds the masks that were meant.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
from PIL import Image

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

WIDTH, HEIGHT = 40, 30
NAMES = ["cat", "dog"]
POLYGON = [(4, 3), (18, 3), (18, 9), (11, 9), (11, 20), (4, 20)]
BOX = (30, 22, 38, 28)
"""Left, top, right, bottom."""


def disc(x: float, y: float, radius: float) -> np.ndarray:
    """The pixels whose middle lies in a disc."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    return np.hypot(columns - x, rows - y) <= radius


def ring() -> np.ndarray:
    """A disc with a hole."""
    return disc(27, 11, 8) & ~disc(27, 11, 3)


def polygon() -> np.ndarray:
    """The pixels of `POLYGON`, an L."""
    hits = np.zeros((HEIGHT, WIDTH), dtype=bool)
    hits[3:9, 4:18] = hits[9:20, 4:11] = True
    return hits


def truth(box: bool) -> np.ndarray:
    """The L is a cat, the ring is a dog; the box, where it is drawn, is a cat."""
    mask = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
    mask[polygon()] = 1
    mask[ring()] = 2
    if box:
        mask[BOX[1] : BOX[3], BOX[0] : BOX[2]] = 1
    return mask


def save_photo(path: Path) -> None:
    """A photo of plain colours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    colours = np.array([[90, 90, 90], [200, 120, 40], [40, 80, 160]], dtype=np.uint8)
    Image.fromarray(colours[truth(box=True)]).save(path)


def write_labelme(root: Path) -> None:
    """LabelMe: a polygon, a rectangle, a circle below a mask, and a line, which has no area."""
    from labelme._label_file import write_label_file

    save_photo(root / "a.png")
    rows, columns = np.nonzero(ring())
    top, left, bottom, right = rows.min(), columns.min(), rows.max(), columns.max()

    def shape(label: str, kind: str, points: list, mask: np.ndarray | None = None) -> dict:
        return {
            "label": label,
            "points": [[float(x), float(y)] for x, y in points],
            "shape_type": kind,
            "flags": {},
            "description": "",
            "group_id": None,
            "mask": None if mask is None else encoded(mask),
        }

    def encoded(mask: np.ndarray) -> str:
        from labelme.utils import img_arr_to_b64

        return img_arr_to_b64(mask.astype(np.uint8))

    shapes = [
        shape("cat", "polygon", POLYGON),
        shape("dog", "circle", [(27, 11), (27, 19)]),
        shape("_background_", "circle", [(27, 11), (27, 14)]),
        shape(
            "dog",
            "mask",
            [(left, top), (right, bottom)],
            ring()[top : bottom + 1, left : right + 1],
        ),
        shape("cat", "rectangle", [BOX[:2], BOX[2:]]),
        shape("cat", "line", [(1, 1), (3, 2)]),
    ]
    write_label_file(
        str(root / "a.json"),
        shapes=shapes,
        image_path="a.png",
        image_height=HEIGHT,
        image_width=WIDTH,
    )


def datumaro_dataset():  # noqa: ANN201
    """The scene as Datumaro has it: a polygon, a mask and a box."""
    import datumaro as dm

    save_photo(Path("scene/a.png"))
    x, y, right, bottom = BOX
    annotations = [
        dm.Polygon([float(value) for point in POLYGON for value in point], label=0, id=1, group=1),
        dm.Mask(ring().astype(np.uint8), label=1, id=2, group=2, z_order=1),
        dm.Bbox(x, y, right - x, bottom - y, label=0, id=3, group=3),
    ]
    item = dm.DatasetItem(
        id="a",
        subset="train",
        media=dm.Image.from_file(path="scene/a.png", size=(HEIGHT, WIDTH)),
        annotations=annotations,
    )
    return dm.Dataset.from_iterable([item], categories=NAMES)


def write_datumaro(root: Path) -> None:
    """Datumaro's own format, and those it writes for other tools."""
    dataset = datumaro_dataset()
    for name, kind in {"datumaro": "datumaro", "cvat": "cvat", "coco": "coco_instances"}.items():
        dataset.export(str(root / name), kind, save_media=True)
    dataset.transform("polygons_to_masks")
    dataset.export(str(root / "voc"), "voc_segmentation", save_media=True)


def write_ultralytics(root: Path) -> None:
    """YOLO's labels, made of a mask by Ultralytics; its file of names is written as they say."""
    from ultralytics.data.converter import convert_segment_masks_to_yolo_seg

    masks = Path("masks")
    masks.mkdir()
    Image.fromarray(truth(box=True)).save(masks / "a.png")
    save_photo(root / "images" / "train" / "a.png")
    (root / "labels" / "train").mkdir(parents=True)
    convert_segment_masks_to_yolo_seg(str(masks), str(root / "labels" / "train"), classes=2)
    (root / "data.yaml").write_text(
        "path: ../datasets/ours\ntrain: images/train\nval: images/train\n"
        "names:\n  0: cat\n  1: dog\n"
    )


def write_supervision(root: Path) -> None:
    """YOLO's labels with Roboflow's `data.yaml`, by supervision."""
    import supervision as sv

    save_photo(Path("sv/a.png"))
    mask = truth(box=True)
    things = sv.Detections(
        xyxy=np.array([[0.0, 0, WIDTH, HEIGHT]] * 2),
        mask=np.stack([mask == 1, mask == 2]),
        class_id=np.array([0, 1]),
    )
    dataset = sv.DetectionDataset(NAMES, ["sv/a.png"], {"sv/a.png": things})
    dataset.as_yolo(
        images_directory_path=str(root / "images"),
        annotations_directory_path=str(root / "labels"),
        data_yaml_path=str(root / "data.yaml"),
    )


def write_labelstudio(root: Path) -> None:
    """Brush masks and a polygon, a rectangle and an ellipse, as Label Studio exports a task."""
    from label_studio_sdk.converter.brush import mask2rle

    save_photo(root / "a.png")

    def region(kind: str, name: str, **value: object) -> dict:
        sizes = {"original_width": WIDTH, "original_height": HEIGHT, "image_rotation": 0}
        about = {"id": kind, "type": kind, "from_name": "tag", "to_name": "image"}
        return sizes | about | {"value": value | {kind: [name]}}

    corners = [[x / WIDTH * 100, y / HEIGHT * 100] for x, y in POLYGON]
    left, top, right, bottom = BOX
    share = {"x": left / WIDTH * 100, "y": top / HEIGHT * 100, "rotation": 0}
    share |= {"width": (right - left) / WIDTH * 100, "height": (bottom - top) / HEIGHT * 100}
    disc = {"x": 27 / WIDTH * 100, "y": 11 / HEIGHT * 100, "rotation": 0}
    disc |= {"radiusX": 8 / WIDTH * 100, "radiusY": 8 / HEIGHT * 100}
    hole = disc | {"radiusX": 3 / WIDTH * 100, "radiusY": 3 / HEIGHT * 100}
    results = [
        region("polygonlabels", "cat", points=corners, closed=True),
        region("ellipselabels", "dog", **disc),
        region("ellipselabels", "background", **hole),
        region("brushlabels", "dog", format="rle", rle=mask2rle(ring().astype(np.uint8) * 255)),
        region("rectanglelabels", "cat", **share),
        region("keypointlabels", "cat", x=1, y=2, width=1),
    ]
    task = {"id": 1, "data": {"image": "/data/upload/1/0a1b2c3d-a.png"}, "predictions": []}
    answers = [{"id": 1, "was_cancelled": False, "result": results}, {"was_cancelled": True}]
    (root / "tasks.json").write_text(json.dumps([task | {"annotations": answers}]))


def main(target: Path) -> None:
    """Write everything anew."""
    target = target.absolute()
    shutil.rmtree(target, ignore_errors=True)
    scratch = target.with_name("scratch")
    scratch.mkdir()
    os.chdir(scratch)
    try:
        (target / "truth").mkdir(parents=True)
        for box in (False, True):
            Image.fromarray(truth(box)).save(target / "truth" / f"{'box' if box else 'plain'}.png")
        write_labelme(target / "labelme")
        write_datumaro(target)
        write_ultralytics(target / "ultralytics")
        write_supervision(target / "supervision")
        write_labelstudio(target / "labelstudio")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
