"""The settings of one call of `recallseg learn`: the model's own, with what the call changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recallseg.config import SOURCES, RunConfig, load_preset, source_class, validate
from recallseg.config.sources import NO_SOURCE
from recallseg.data import SegmentationDataset
from recallseg.data.sizes import PhotoSizes
from recallseg.errors import RecallsegError
from recallseg.runs.records import ClassRecord
from recallseg.runs.taught_folder import TaughtFolder

FIXED = ("model", "views", "seed")
"""Parts that cannot change once a model has been begun."""
WORKING_SIDE = "views.longer_side"


@dataclass(frozen=True)
class Taught:
    """What a model was taught step by step, the step of a call last."""

    steps: tuple[list[str], ...] = ()
    """The new classes of every step."""
    refined: dict[int, list[str]] = field(default_factory=dict)
    """By step, the classes that it refines instead."""

    @classmethod
    def recorded(cls, record: ClassRecord | None) -> "Taught":
        """What a run folder says."""
        if record is None:
            return cls()
        refined = {int(index): names for index, names in record.get("refined", {}).items()}
        return cls(tuple(record["steps"]), refined)

    @property
    def names(self) -> list[str]:
        """The classes that the last step's photos show."""
        return self.steps[-1] or self.refined[len(self.steps) - 1]

    @property
    def known(self) -> list[str]:
        """All classes, in the order of learning."""
        return [name for names in self.steps for name in names]

    @property
    def channels(self) -> tuple[str, ...]:
        """What the model's channels mean after the last step."""
        return ("background", *self.known)

    @property
    def names_in_masks(self) -> tuple[str, ...]:
        """The channels that the last step's masks are read as; the others are not in them."""
        return tuple(
            name if place == 0 or name in self.names else ""
            for place, name in enumerate(self.channels)
        )


def spec_of(steps: Sequence[Sequence[str]]) -> str:
    """Steps as a scenario's name, such as 15-1-0."""
    return "-".join(str(len(names)) for names in steps)


def settings(
    folder: TaughtFolder,
    photos: SegmentationDataset,
    taught: Taught,
    source: str | None,
    val: Path | None,
    overrides: Sequence[str],
) -> tuple[RunConfig, list[str]]:
    """The settings in force, and what is to be said of those that were chosen for the photos.

    What a call that never came to its end had changed does not count.
    """
    begun = bool(folder.finished_steps())
    config = folder.config_before(overrides) if begun else load_preset("learn", overrides)
    before = folder.config_before(()) if begun else config
    for part in FIXED:
        if getattr(before, part) != getattr(config, part):
            raise RecallsegError(f"'{part}' cannot change once a model has been begun.")
    values, said = config.model_dump(mode="json"), []
    if not begun and not any(word.startswith(f"{WORKING_SIDE}=") for word in overrides):
        sizes = PhotoSizes.of([pair.photo for pair in photos.pairs])
        if sizes.sides:
            values["views"]["longer_side"] = sizes.working_side(config.views.crop)
            said = [sizes.sentence(config.views.crop)]
    values["scenario"]["spec"] = spec_of(taught.steps)
    values["data"] |= {"name": photos.name, "root": str(photos.root.resolve())}
    values["data"] |= {"train": "train", "val": "val"}
    if val is not None:
        values["data"]["val_root"] = str(val.resolve())
    for name, value in _source(source).items():
        section = values["replay"].get(name)
        values["replay"][name] = section | value if isinstance(section, dict) else value
    return validate(values, str(folder.path)), said


def source_words() -> list[str]:
    """How a source is named in one word, such as `web` and `gan:PATH`."""
    return [NO_SOURCE, *(f"{name}:PATH" if _has_path(name) else name for name in SOURCES)]


def _source(word: str | None) -> dict[str, Any]:
    if word is None:
        return {}
    name, _, path = word.partition(":")
    if name == NO_SOURCE and not path:
        return {"source": name}
    if name not in SOURCES or bool(path) != _has_path(name):
        raise RecallsegError(f"'{word}' is not a source; write one of {', '.join(source_words())}.")
    return {"source": name} | ({name: {"path": str(Path(path).resolve())}} if path else {})


def _has_path(name: str) -> bool:
    return "path" in source_class(name).model_fields
