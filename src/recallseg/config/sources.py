"""The sources of replay images, by the name that a configuration gives them.

Each owns its settings: `replay.web.site` is a field of the class that `web` stands for here. The
classes are imported when a configuration names them, and do not load torch.
"""

from pathlib import Path
from typing import Any

from recallseg.config.registry import class_named
from recallseg.config.section import Section
from recallseg.errors import RecallsegError, unknown_name

NO_SOURCE = "none"


class SourceSettings(Section):
    """What can be chosen about one source of replay images."""

    title: str
    """What reports call it."""

    def open(self) -> Any:  # noqa: ANN401
        """The source itself, a `recallseg.replay.Source`, ready to be asked for images."""
        raise NotImplementedError

    def contacts(self) -> str | None:
        """Whom it asks over the network, in words; None if nobody."""
        return None

    def own_addresses(self) -> dict[str, tuple[str, ...]]:
        """By setting, the addresses that it contacts because its settings say so."""
        return {}

    def stored_bytes(self) -> int:
        """What must stay on disk for it from step to step, such as a generator."""
        return 0

    def images_depend_on(self) -> dict[str, Any]:
        """The settings that decide which images it brings."""
        return self.model_dump(mode="json", exclude={"title"})


SOURCES: dict[str, str | type[SourceSettings]] = {
    "folder": "recallseg.replay.folder_source:FolderSettings",
    "web": "recallseg.replay.web_source:WebSettings",
    "gan": "recallseg.replay.gan_source:GanSettings",
}


def needed_path(path: Path | None, name: str) -> Path:
    """The path of a source that cannot do without one."""
    if path is None:
        raise RecallsegError(f"replay.source={name} needs replay.{name}.path.")
    return path


def source_class(name: str) -> type[SourceSettings]:
    """The settings of a source; an unknown one lists those there are."""
    if name not in SOURCES:
        raise unknown_name("replay source", name, [NO_SOURCE, *SOURCES])
    return class_named("replay source", name, SOURCES)
