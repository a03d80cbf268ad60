"""Annotation files from outside: read within limits, and never trusted to be what they should."""

import json
import re
import reprlib
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

import yaml
from pydantic import TypeAdapter, ValidationError

from recallseg.errors import RecallsegError
from recallseg.files import check_regular

MOST_BYTES = 2 * 1024**3
"""The largest JSON or XML file that is read."""
MOST_TEXT_BYTES = 16 * 1024**2
"""The largest text, YAML or label file that is read."""
SPLIT_WORDS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
    "testing": "test",
}

Value = TypeVar("Value")


def split_in(*names: str) -> str | None:
    """The split that the first of some names speaks of: `train` in `instances_train2017`."""
    for name in names:
        for word in re.split(r"[^a-z]+", name.lower()):
            if word in SPLIT_WORDS:
                return SPLIT_WORDS[word]
    return None


def read_text(path: Path, most: int = MOST_TEXT_BYTES) -> str:
    """The text of a file that is not larger than `most` bytes."""
    size = check_regular(path).st_size
    if size > most:
        raise RecallsegError(f"{path} has {size:,} bytes; at most {most:,} are read.")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecallsegError(f"{path} is not text in UTF-8; save it as such.") from error


def read_json(path: Path) -> Any:  # noqa: ANN401
    """The value in a JSON file."""
    try:
        return json.loads(read_text(path, MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise RecallsegError(f"{path} is not JSON: {error}.") from error


def read_yaml(path: Path) -> Any:  # noqa: ANN401
    """The plain values in a YAML file."""
    try:
        return plain_yaml(read_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RecallsegError(f"{path} is not YAML: {' '.join(str(error).split())}.") from error


def plain_yaml(text: str) -> Any:  # noqa: ANN401
    """The values in YAML; tags that would make objects, and aliases, are refused.

    A few lines of aliases of aliases stand for more values than any memory holds.
    """
    return yaml.load(text, Loader=_PlainLoader)


class _PlainLoader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has an alias (*), which is not read")
        return super().compose_node(parent, index)


def read_xml(path: Path) -> ElementTree.Element:
    """The root of an XML file; one with a DOCTYPE, which can hold entities, is refused."""
    size = check_regular(path).st_size
    if size > MOST_BYTES:
        raise RecallsegError(f"{path} has {size:,} bytes; at most {MOST_BYTES:,} are read.")
    parser = ElementTree.XMLParser(target=_PlainTree())
    try:
        return ElementTree.parse(path, parser).getroot()
    except _DoctypeError as error:
        raise RecallsegError(
            f"{path} has a DOCTYPE, which annotation files never need; remove it."
        ) from error
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise RecallsegError(f"{path} is not XML: {error}.") from error


class _DoctypeError(Exception):
    pass


class _PlainTree(ElementTree.TreeBuilder):
    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise _DoctypeError


def parsed(kind: type[Value], value: Any, where: object) -> Value:  # noqa: ANN401
    """A value as a typed record; the first thing that does not fit is a sentence."""
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        shown = reprlib.repr(first["input"])
        more = f" ({error.error_count() - 1} more like it)" if error.error_count() > 1 else ""
        raise RecallsegError(
            f"{where} is not as expected at '{place}': {first['msg']}, found {shown}{more}."
        ) from error
