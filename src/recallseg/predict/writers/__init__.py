"""The formats of predictions: each is a `Writer` in a file of this room and a line in `FORMATS`."""

from recallseg.predict.writers.base import FreeNames, Writer
from recallseg.predict.writers.coco import CocoPolygonWriter, CocoWriter
from recallseg.predict.writers.images import OverlayWriter, PngWriter
from recallseg.predict.writers.labelme import LabelmeWriter
from recallseg.predict.writers.labelstudio import LabelStudioWriter
from recallseg.predict.writers.summary import SummaryWriter
from recallseg.predict.writers.yolo import YoloWriter

__all__ = ["FORMATS", "FreeNames", "Writer"]

FORMATS: dict[str, type[Writer]] = {
    "png": PngWriter,
    "overlay": OverlayWriter,
    "coco": CocoWriter,
    "coco-polygons": CocoPolygonWriter,
    "yolo": YoloWriter,
    "labelme": LabelmeWriter,
    "labelstudio": LabelStudioWriter,
    "json": SummaryWriter,
}
