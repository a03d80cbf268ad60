"""The formats that can be imported: each is a file of this room and a line in `IMPORTS`."""

from collections.abc import Callable
from dataclasses import dataclass

from recallseg.data.importing.scenes import Findings
from recallseg.data.importing.source_folder import SourceFolder


@dataclass(frozen=True)
class ImportFormat:
    """How datasets of one format are recognised and read."""

    title: str
    recognise: Callable[[SourceFolder], bool]
    read: Callable[[SourceFolder], Findings]
