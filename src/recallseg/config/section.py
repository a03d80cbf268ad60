"""What every part of a configuration is made of."""

from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

Positive = Annotated[int, Field(gt=0)]
NotNegative = Annotated[int, Field(ge=0)]
Rate = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A part of the configuration: it cannot be changed, and refuses keys it does not know and
    numbers that are not finite."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False
    )

    optional: ClassVar[tuple[str, ...]] = ()
    """Settings that are left out of files and keys while they are None: they came later than runs
    whose names and caches they must not change."""

    @model_serializer(mode="wrap")
    def _written(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = plain(self)
        unset = {name for name in self.optional if values.get(name) is None}
        return {name: value for name, value in values.items() if name not in unset}
