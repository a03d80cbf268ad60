"""Which formats there are, and which of them a dataset has."""

import contextlib
from pathlib import Path

from recallseg.data.importing import (
    cityscapes,
    coco,
    cvat,
    datumaro,
    labelme,
    labelstudio,
    masks,
    voc_masks,
    yolo,
)
from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError, unknown_name

IMPORTS: dict[str, ImportFormat] = {
    "coco": coco.FORMAT,
    "yolo": yolo.FORMAT,
    "labelme": labelme.FORMAT,
    "cvat": cvat.FORMAT,
    "datumaro": datumaro.FORMAT,
    "labelstudio": labelstudio.FORMAT,
    "cityscapes": cityscapes.FORMAT,
    "voc": voc_masks.FORMAT,
    "masks": masks.FORMAT,
}
"""By name; where several fit, those that come earlier are tried first, and masks last."""


def format_called(name: str) -> ImportFormat:
    """The format of a name; an unknown one lists those there are."""
    if name not in IMPORTS:
        raise unknown_name("format", name, IMPORTS)
    return IMPORTS[name]


def foreign_format(root: Path) -> str | None:
    """The title of the format that a folder seems to have, or None; broken files are in none."""
    source = SourceFolder(root)
    for kind in IMPORTS.values():
        with contextlib.suppress(RecallsegError):
            if kind.recognise(source):
                return kind.title
    return None


def detect_format(source: SourceFolder) -> str:
    """The name of the format of a dataset; one that fits two or none is an error."""
    fitting = [name for name, kind in IMPORTS.items() if kind.recognise(source)]
    special = [name for name in fitting if name != "masks"]
    if len(special) > 1:
        raise RecallsegError(
            f"{source.root} looks like {' and like '.join(special)}; choose with --format."
        )
    if not fitting:
        titles = ", ".join(f"{name} ({kind.title})" for name, kind in IMPORTS.items())
        raise RecallsegError(
            f"{source.only or source.root} is in no format that can be imported: {titles}."
        )
    return fitting[0]
