"""What a run writes down about itself, beside its scores."""

import platform
import resource
import sys
from importlib.metadata import version
from itertools import zip_longest

from recallseg.config import RunConfig
from recallseg.data import SegmentationDataset
from recallseg.methods import METHODS, Method
from recallseg.runs.folder import FORMAT
from recallseg.runs.records import ClassRecord, RowRecord
from recallseg.scenario import Scenario


def peak_memory_mb() -> float:
    """The most memory this process has held at once."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def versions() -> dict[str, str]:
    """What else the numbers depend on."""
    packages = ("recallseg", "torch", "timm", "numpy")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def row_record(config: RunConfig, method: Method) -> RowRecord:
    """What reports call a run, and where they show it: its method and replay say so."""
    settings = config.replay.settings
    title = method.row(settings.title if settings else None, config.replay.labels)
    place = list(METHODS).index(config.method.name)
    return {"title": title, "place": [place, settings is not None, method.inpainting]}


def class_record(
    scenario: Scenario, photos: SegmentationDataset, row: RowRecord, earlier: ClassRecord | None
) -> ClassRecord:
    """What the model's channels mean, and how much was seen of them, for later runs and reports."""
    counts = [len(step.images) for step in scenario]
    sizes = [photos.subset(step.images).bytes_on_disk() for step in scenario]
    record: ClassRecord = {
        "format": FORMAT,
        "dataset": photos.name,
        "channels": scenario.names((0, *scenario.order)),
        "steps": [scenario.names(step.new_classes) for step in scenario],
        "initial": scenario.sizes[0],
        "photos": _kept(counts, earlier.get("photos", []) if earlier else []),
        "photo_bytes": _kept(sizes, earlier.get("photo_bytes", []) if earlier else []),
        "row": row,
    }
    if scenario.refined:
        record["refined"] = {
            str(index): scenario.names(labels) for index, labels in scenario.refined.items()
        }
    if scenario.lists_key is not None:
        record["lists"] = scenario.lists_key
    return record


def _kept(numbers: list[int], earlier: list[int]) -> list[int]:
    """Numbers of each step; where a step's photos are gone, those that were noted then."""
    return [number or then for number, then in zip_longest(numbers, earlier, fillvalue=0)]
