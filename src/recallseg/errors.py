"""The one exception that a person at the command line is meant to read."""

from collections.abc import Iterable


class RecallsegError(Exception):
    """Something the user can mend: one sentence with what was found and what to do next.

    The command line prints it without a traceback and exits with code 2.
    """


def unknown_name(kind: str, name: str, known: Iterable[str]) -> RecallsegError:
    """The error for a name that is not in a table, listing the names that are."""
    return RecallsegError(f"Unknown {kind} '{name}'. Known: {', '.join(known)}.")
