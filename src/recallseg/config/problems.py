"""What is wrong with a configuration, in words."""

from typing import Any

from pydantic import ValidationError


def problems(error: ValidationError, between: str = "; ") -> str:
    """All that is wrong, each with the setting it is about."""
    return between.join(
        f"{'.'.join(map(str, problem['loc'])) or 'file'}: {_sentence(problem)}"
        for problem in error.errors()
    )


def _sentence(problem: Any) -> str:  # noqa: ANN401
    if problem["type"] == "extra_forbidden":
        return "no such setting"
    message = str(problem["msg"]).removeprefix("Value error, ")
    told = "" if isinstance(problem["input"], dict) else f" (found {problem['input']!r})"
    return f"{message[0].lower()}{message[1:]}{told}"
