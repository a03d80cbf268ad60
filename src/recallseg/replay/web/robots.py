"""What a site asks of crawlers: its robots.txt, and headers that keep photos from learners.

Searches go through APIs that are made for programs, under their own terms; robots.txt is about what
they then point to, so it is read for every host that a photo is downloaded from.
"""

from collections.abc import Callable
from dataclasses import dataclass

import httpx
from protego import Protego

from recallseg.replay.web.failures import FetchError

AGENT = "recallseg"
"""The name that robots.txt and X-Robots-Tag may address this crawler by."""
KEPT_FROM_LEARNERS = ("noai", "noimageai")
LONGEST = 500_000
"""Bytes of a robots.txt that are read, as RFC 9309 asks for at least."""


@dataclass(frozen=True)
class Rules:
    """What one host allows; without a robots.txt, everything."""

    robots: Protego

    def allows(self, url: httpx.URL) -> bool:
        """Whether an address of the host may be asked for."""
        return bool(self.robots.can_fetch(str(url), AGENT))

    @property
    def pause(self) -> float:
        """The seconds between two requests that the host asks for."""
        return float(self.robots.crawl_delay(AGENT) or 0)


class Robots:
    """The rules of every host that was asked so far; each is asked once in the life of a client."""

    def __init__(self, fetch: Callable[[httpx.URL], bytes]) -> None:
        self._fetch = fetch
        self._rules: dict[tuple[str, bytes], Rules] = {}

    def rules(self, url: httpx.URL) -> Rules:
        """The rules of the host that an address is on.

        As RFC 9309 has it: a file that is refused or missing allows everything, and a host that is
        in trouble allows nothing, until it is asked again.
        """
        host = (url.scheme, url.netloc)
        if host not in self._rules:
            self._rules[host] = self._ask(url.copy_with(raw_path=b"/robots.txt", fragment=None))
        return self._rules[host]

    def _ask(self, url: httpx.URL) -> Rules:
        try:
            text = self._fetch(url)
        except FetchError as error:
            if error.kind != "refused":
                raise FetchError(error.reason, error.kind) from error
            text = b""
        return Rules(Protego.parse(text.decode("utf-8", "replace")))


def check_for_learners(headers: httpx.Headers) -> None:
    """Refuse a photo whose answer says that machines must not learn from it.

    `X-Robots-Tag` may come several times, and each may be for one crawler by name.
    """
    for line in headers.get_list("X-Robots-Tag"):
        words = [word.strip().lower() for word in line.split(",")]
        agent, colon, first = words[0].partition(":")
        if colon and agent.strip() not in (AGENT, "*"):
            continue
        words = [first.strip(), *words[1:]] if colon else words
        if any(word in KEPT_FROM_LEARNERS for word in words):
            raise FetchError("kept from learners by X-Robots-Tag")
    if headers.get("TDM-Reservation", "").strip() == "1":
        raise FetchError("kept from learners by TDM-Reservation")
