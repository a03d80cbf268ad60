"""Why a download failed or was rejected, in short texts that can be counted."""

from typing import Literal

Kind = Literal["refused", "failed", "busy"]
"""`refused`: never try again; `failed`: may work later; `busy`: the site asks for a pause."""


class FetchError(Exception):
    """An address that gave nothing usable."""

    def __init__(
        self, reason: str, kind: Kind = "refused", *, retry: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind
        self.retry = retry
        """Whether the same request may be sent again at once, or after `wait` seconds."""
        self.wait = wait


class BadPhoto(Exception):
    """A download that is not a usable photo."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
