"""What is wrong with a configuration, in words."""

from typing import Any

from pydantic import ValidationError


def problems(error: ValidationError, between: str = "; ") -> str:
    """All that is wrong, each with the setting it is about."""
    return between.join(
        f"{'.'.join(map(str, found['loc'])) or 'file'}: {_sentence(found)}"
        for found in error.errors()
    )


def _sentence(found: Any) -> str:  # noqa: ANN401
    if found["type"] == "extra_forbidden":
        return "no such setting"
    message = str(found["msg"]).removeprefix("Value error, ")
    told = "" if isinstance(found["input"], dict) else f" (found {found['input']!r})"
    return f"{message[0].lower()}{message[1:]}{told}"
