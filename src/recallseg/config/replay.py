"""Where images of old classes come from, and how they are labelled and mixed in."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, ValidationError, field_validator, model_validator

from recallseg.config.problems import problems
from recallseg.config.section import NotNegative, Positive, Section, Share
from recallseg.config.sources import NO_SOURCE, SOURCES, SourceSettings, source_class
from recallseg.errors import RecallsegError


class LabelFilters(Section):
    """Which replay images are kept, by what is seen in them of the class they were fetched for."""

    present: bool = True
    """Leave out images in which the class is not seen."""
    min_area: Share = 0.0
    """The least share of the image that the class must cover."""
    max_area: Share = 1.0
    min_confidence: Share = 0.0
    """The least mean probability of the class where it is seen."""


class ReplayConfig(Section):
    """Where images of old classes come from, and how they are labelled and mixed in.

    Every source has a section of its own beside these settings, such as `replay.web`.
    """

    model_config = ConfigDict(extra="allow")

    source: str = NO_SOURCE
    """`none`, or a name of `SOURCES`: `folder`, `web`, `gan`."""
    images_per_class: Positive = 500
    ratio: float = 1.0
    """r_old / r_new: replayed samples for every new one in a batch."""
    labels: Literal["helpers", "previous"] = "helpers"
    """Who labels replay images: the helper decoder of the class's step, or the previous model."""
    label_on: Literal["views", "photos"] = "views"
    """Label each training view of an image by itself, or the image once, and cut its label too."""
    inpaint: bool = False
    """Let the previous model fill the background of replay images too: a helper knows the classes
    of its own step only, and calls all others background."""
    filters: LabelFilters = LabelFilters()
    passes: Literal[1, 2] = 1
    """2: half of a step's iterations as ever; then the model fills the background of replay images
    once more, now that it knows the step's classes too, and the other half follows."""
    new_images: NotNegative = 0
    """In the second pass: images of each new class from the source, labelled by the model as the
    first pass left it, beside the step's own photos."""

    @property
    def settings(self) -> SourceSettings | None:
        """Those of the chosen source; None where nothing is replayed."""
        return None if self.source == NO_SOURCE else (self.model_extra or {})[self.source]

    @field_validator("ratio")
    @classmethod
    def _replays_something(cls, ratio: float) -> float:
        if not 0 < ratio < float("inf"):
            raise ValueError(
                "r_old/r_new must be above 0; to replay nothing, set replay.source=none"
            )
        return ratio

    @model_validator(mode="after")
    def _asked_for_twice(self) -> Self:
        if self.new_images and self.passes == 1:
            raise ValueError("new_images are for the second pass; set replay.passes=2 too")
        return self

    @model_validator(mode="after")
    def _sections_of_sources(self) -> Self:
        """Read the section of every source that is named, and of the chosen one in any case."""
        sections = self.model_extra
        assert sections is not None
        for name in sections:
            if name not in SOURCES:
                raise ValueError(f"{name}: no such setting")
        for name in sections if self.source == NO_SOURCE else {self.source, *sections}:
            sections[name] = _section(name, sections.get(name, {}))
        return self


def _section(name: str, values: Any) -> SourceSettings:  # noqa: ANN401
    """A source's own settings, all that is wrong with them in one sentence."""
    try:
        return source_class(name).model_validate(values)
    except ValidationError as error:
        raise ValueError(f"{name}.{problems(error, between=f'; {name}.')}") from None
    except RecallsegError as error:
        raise ValueError(str(error)) from None
