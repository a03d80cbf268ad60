"""The results of a search on a photo site, and how its JSON is requested and read."""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from recallseg.errors import RecallsegError
from recallseg.replay.web.failures import FetchError
from recallseg.replay.web.fetching import PoliteClient

SITE_NAMES = ("flickr", "openverse", "commons")


@dataclass(frozen=True)
class Candidate:
    """A search result, before the photo is downloaded."""

    id: str
    url: str
    title: str
    description: str
    tags: tuple[str, ...]
    licence: str
    credit: str
    page: str


@dataclass(frozen=True)
class Results:
    """One page of a search, and whether another one follows."""

    candidates: tuple[Candidate, ...]
    more: bool


class Site(Protocol):
    """A photo site; pages count from 1."""

    @property
    def name(self) -> str:
        """Its name in manifests and messages."""

    def search(self, query: str, page: int) -> Results:
        """The photos of one page of results, in the site's order."""


def ask(client: PoliteClient, site: str, base: str, params: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object that a site answers; a failure is one sentence."""
    try:
        answer = client.json(base, params)
    except FetchError as error:
        hint = ""
        if error.reason == "private address":
            hint = " Such hosts are used only if the configuration allows them by name."
        raise RecallsegError(
            f"The photo site {site} ({base}) gave no search results: {error.reason}.{hint} Photos "
            "downloaded so far are kept; run the same command later to continue, or choose "
            f"another site ({', '.join(SITE_NAMES)})."
        ) from error
    if not isinstance(answer, dict):
        raise _unexpected(site)
    return answer


def parsed(site: str, parse: Callable[[], Results]) -> Results:
    """What `parse` reads from an answer; an answer of another shape is one sentence."""
    try:
        return parse()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unexpected(site) from error


def _unexpected(site: str) -> RecallsegError:
    return RecallsegError(
        f"The photo site {site} answered with JSON of a shape that this version of recallseg does "
        f"not know; choose another site ({', '.join(SITE_NAMES)})."
    )


def plain_text(value: object) -> str:
    """Plain text of a JSON value: HTML and Flickr's {"_content": …} taken off, blanks joined."""
    if isinstance(value, Mapping):
        value = value.get("_content") or value.get("info")
    if value is None:
        return ""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", str(value))).split())
