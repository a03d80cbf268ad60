"""What the JSON files of a run folder hold, and the one way to read them.

Records are plain dictionaries, so that they can be written as they are; reading checks that all
that is promised here is there.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from recallseg.checksums import check
from recallseg.errors import RecallsegError

Means = dict[str, float | None]
"""mIoU in percent by convention; None where there is nothing to measure."""


class RowRecord(TypedDict):
    """The row of a table that a run belongs into."""

    title: str
    place: list[int | bool]
    """Rows are sorted by it."""


class ClassRecord(TypedDict):
    """`classes.json`: what the model's channels mean, and how much was seen of each step."""

    format: NotRequired[int]
    dataset: NotRequired[str]
    channels: list[str]
    """Names, background first."""
    steps: list[list[str]]
    """The new classes of every step."""
    initial: int
    """How many classes step 0 has."""
    photos: NotRequired[list[int]]
    """How many photos each step learned from."""
    photo_bytes: NotRequired[list[int]]
    """What those photos and their masks take on disk."""
    row: NotRequired[RowRecord]
    lists: NotRequired[str]
    """A hash of the photos of all steps, where lists named them."""
    refined: NotRequired[dict[str, list[str]]]
    """By the numbers of steps that added no class: the classes of which they had more photos."""


class ConfusionRecord(TypedDict):
    """A share of a class's pixels that is taken for another class."""

    true: str
    seen: str
    share: float
    """In percent of the pixels of `true`."""


class ProofRecord(TypedDict):
    """`step-k/proof.json`: what the weights after a step belong to."""

    channels: list[str]
    """What the decoder's channels mean, background first."""
    model: str
    """A hash of the settings of the model."""
    photos: str
    """A hash of the photos that the step learned from."""


class StepRecord(TypedDict):
    """`step-k/metrics.json`: the scores after a step, in percent."""

    step: int
    classes: list[str]
    """Those that were new."""
    miou: Means
    miou_boundary: NotRequired[Means]
    """Of the pixels within three of an edge."""
    iou: Means
    """By class."""
    pixel_accuracy: Means
    """By class."""
    pixels: NotRequired[int]
    iou_without_new: NotRequired[Means]
    """By class, with the pixels of the step's new classes left out: what can be compared with the
    scores of the step before, which left them out too."""
    confusions: NotRequired[list[ConfusionRecord]]
    """The largest, the worst first."""


class ComparisonRecord(TypedDict):
    """`step-k/comparison.json`: a model before and after a step, on the same pixels."""

    step: int
    before: Means
    """IoU by class of the model of the step before, measured now."""
    after: Means
    """IoU by class after the step; the pixels of new classes count for neither."""
    new: Means
    """IoU by new class, of all pixels."""
    confusions: list[ConfusionRecord]
    photos: int
    """How many photos both were measured on."""


class CallRecord(TypedDict):
    """`step-k/call.json`: the call of `recallseg learn` that taught a step."""

    data: str
    classes: list[str]
    source: str | None
    """As it was given; None where the model's own was kept."""
    val: str | None
    """The photos that were measured on, given then or before."""
    overrides: list[str]
    allow_forgetting: bool
    photos: str
    """A hash of the photos and masks that it learned from."""
    seconds: float


class ReplayRecord(TypedDict):
    """A line of `replay/manifest.jsonl`, and an entry of the gallery: a replay image."""

    name: NotRequired[str]
    """Of its pictures in the gallery."""
    class_name: NotRequired[str]
    source: NotRequired[str]
    title: NotRequired[str]
    credit: NotRequired[str]
    licence: NotRequired[str]
    page: NotRequired[str]
    rejected: NotRequired[str | None]
    """Why it was not used."""


class ResultRecord(TypedDict):
    """`result.json`: a finished run."""

    method: str
    dataset: str
    scenario: str
    setup: str
    seed: int
    keeps_photos: bool
    steps: list[StepRecord]
    versions: dict[str, str]
    seconds: float
    peak_memory_mb: float


MappingRecord = dict[str, list[tuple[int, str, float]]]
"""`mapping.json`: what a generator calls each class, as index, name and score, best first."""

_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def read_record(path: Path, kind: Any) -> Any:  # noqa: ANN401
    """The record in a JSON file, or None where nothing is; a broken one is an error."""
    if not path.is_file():
        if path.exists() or path.is_symlink():
            raise RecallsegError(f"{path} is not a file. Put back a copy of it, or take it away.")
        return None
    try:
        return read_text_record(check(path).read_bytes(), kind, str(path))
    except OSError as error:
        raise RecallsegError(f"{path} cannot be read: {error.strerror}.") from error


def read_text_record(text: bytes | str, kind: Any, where: str) -> Any:  # noqa: ANN401
    """The record in a text of JSON; the error for a broken one says where it stands."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    try:
        _ADAPTERS[kind].validate_json(text, strict=True)
        return json.loads(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what, place = first["msg"], ".".join(map(str, first["loc"]))
    except (ValueError, RecursionError) as error:
        what, place = str(error), ""
    raise RecallsegError(
        f"{where} cannot be read: {what}{f' at {place}' if place else ''}. Put back a copy of it, "
        "or delete it if the same command can write it again."
    )


def read_lines(path: Path, kind: Any) -> Iterator[Any]:  # noqa: ANN401
    """The records in a file of one each line; a last line that was cut off is left out."""
    if not path.is_file():
        return
    *lines, last = check(path).read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        yield read_text_record(line, kind, f"Line {number} of {path}")
    with contextlib.suppress(RecallsegError):
        yield read_text_record(last, kind, str(path))


def check_classes(record: ClassRecord, path: Path) -> None:
    """Refuse channels that are not those of the steps."""
    names = record["channels"]
    count = sum(map(len, record["steps"]))
    if len(names) != 1 + count or len(set(names)) != len(names) or record["initial"] > count:
        raise RecallsegError(
            f"{path} cannot be read: it names {len(names)} channels for {count} classes of "
            f"{len(record['steps'])} steps, {record['initial']} of them the first. Put back a copy."
        )
