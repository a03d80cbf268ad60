"""A polite HTTP client: it says who it is, limits its rate, and checks every answer."""

import email.utils
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import tenacity

from recallseg.replay.web.addresses import checked_addresses
from recallseg.replay.web.bodies import ACCEPTED, read_body
from recallseg.replay.web.failures import FetchError
from recallseg.replay.web.robots import LONGEST, Robots, check_for_learners
from recallseg.version import __version__

PROJECT_PAGE = "https://pypi.org/project/recallseg/"
CONTACT_VARIABLE = "RECALLSEG_CONTACT"


@dataclass(frozen=True)
class FetchLimits:
    """How patient and how polite the client is; times are in seconds."""

    interval: float = 1.0
    """Between the starts of two requests to the same host."""
    idle_seconds: float = 20.0
    """How long a connection may be silent."""
    request_seconds: float = 120.0
    """How long one request may take with its redirects and its whole body."""
    total_seconds: float = 600.0
    """How long a request may take with all its retries."""
    attempts: int = 4
    backoff: float = 1.0
    """The first wait before a retry; it doubles from there, with some random time added."""
    longest_wait: float = 120.0
    """A site that asks for a longer pause (Retry-After) is left alone."""
    max_bytes: int = 20_000_000
    redirects: int = 5


class PoliteClient:
    """Fetches JSON and images for the crawler; every hop of every request is checked.

    Connections go to the address that was checked, with the host's name in TLS and in the
    request. Therefore they ignore proxies set in the environment, and are not kept open. Images
    are asked for only where the robots.txt of their host allows it.
    """

    def __init__(
        self,
        limits: FetchLimits = FetchLimits(),
        contact: str | None = None,
        allow_hosts: Collection[str] = (),
    ) -> None:
        self.limits = limits
        self.allow_hosts = tuple(allow_hosts)
        contact = contact or os.environ.get(CONTACT_VARIABLE)
        self.user_agent = (
            f"recallseg/{__version__} ({'; '.join(filter(None, (PROJECT_PAGE, contact)))})"
        )
        self._next_turn: dict[bytes, float] = {}
        self._robots = Robots(self._robots_txt)
        self._http = httpx.Client(
            headers={"User-Agent": self.user_agent, "Accept-Encoding": ACCEPTED},
            timeout=limits.idle_seconds,
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
        )
        self._backoff = tenacity.wait_exponential(limits.backoff, max=60) + tenacity.wait_random(
            0, limits.backoff
        )
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda e: isinstance(e, FetchError) and e.retry),
            wait=self._wait,
            stop=tenacity.stop_after_attempt(limits.attempts)
            | tenacity.stop_before_delay(limits.total_seconds),
            reraise=True,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> "PoliteClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def json(self, url: str, params: Mapping[str, str]) -> Any:  # noqa: ANN401
        """The JSON that an API answers; an answer of any other kind is a FetchError."""
        body = self._retrying(self._attempt, url, params, "json")
        try:
            return json.loads(body)
        except ValueError as error:
            raise FetchError("the answer is not JSON") from error

    def image(self, url: str) -> bytes:
        """The bytes of an image, not decoded."""
        return self._retrying(self._attempt, url, None, "image/")

    def _robots_txt(self, url: httpx.URL) -> bytes:
        """The robots.txt of a host, asked for in the middle of another request."""
        return self._retrying.copy()(self._attempt, str(url), None, "")[:LONGEST]

    def _wait(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, FetchError) and error.wait is not None:
            return error.wait
        return self._backoff(state)

    def _attempt(self, url: str, params: Mapping[str, str] | None, kind: str) -> bytes:
        try:
            target = httpx.URL(url, params=dict(params)) if params else httpx.URL(url)
            return self._follow(target, kind, time.monotonic() + self.limits.request_seconds)
        except httpx.InvalidURL as error:
            raise FetchError("malformed address") from error
        except httpx.TimeoutException as error:
            raise FetchError("no answer in time", "failed", retry=True) from error
        except httpx.HTTPError as error:
            raise FetchError("connection failed", "failed", retry=True) from error

    def _follow(self, url: httpx.URL, kind: str, deadline: float) -> bytes:
        for _ in range(self.limits.redirects + 1):
            pause = self._permitted_pause(url) if kind == "image/" else 0.0
            with self._open(url, pause) as response:
                if not response.has_redirect_location:
                    self._check(response, kind)
                    return read_body(response, self.limits.max_bytes, deadline)
                url = url.join(response.headers["Location"])
        raise FetchError("too many redirects")

    def _permitted_pause(self, url: httpx.URL) -> float:
        """The pause that robots.txt asks for, if it lets this address be asked for at all."""
        rules = self._robots.rules(url)
        if not rules.allows(url):
            raise FetchError("not allowed by robots.txt")
        if rules.pause > self.limits.longest_wait:
            raise FetchError(f"robots.txt asks for a pause of {rules.pause:.0f} s", "busy")
        return rules.pause

    @contextmanager
    def _open(self, url: httpx.URL, pause: float = 0.0) -> Iterator[httpx.Response]:
        addresses = checked_addresses(url, self.allow_hosts)
        self._take_turn(url.netloc, max(pause, self.limits.interval))
        response = self._connect(url, addresses)
        try:
            yield response
        finally:
            response.close()

    def _connect(self, url: httpx.URL, addresses: list[str]) -> httpx.Response:
        """Send the request to the first address that takes it."""
        for number, address in enumerate(addresses, 1):
            request = self._http.build_request(
                "GET",
                url.copy_with(host=address),
                headers={"Host": url.netloc.decode("ascii")},
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            try:
                return self._http.send(request, stream=True)
            except httpx.ConnectError:
                if number == len(addresses):
                    raise
        raise FetchError("host not found", "failed")

    def _take_turn(self, host: bytes, interval: float) -> None:
        now = time.monotonic()
        turn = max(now, self._next_turn.get(host, now))
        self._next_turn[host] = turn + interval
        time.sleep(turn - now)

    def _check(self, response: httpx.Response, kind: str) -> None:
        status = response.status_code
        if status == 429 or status >= 500 or status == 408:
            wait = retry_after(response.headers.get("Retry-After", ""))
            patient = wait is None or wait <= self.limits.longest_wait
            pause = "" if patient or wait is None else f", asks for a pause of {wait:.0f} s"
            busy = status == 429 or not patient
            raise FetchError(
                f"HTTP {status}{pause}", "busy" if busy else "failed", retry=patient, wait=wait
            )
        if status != 200:
            raise FetchError(f"HTTP {status}")
        content_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind == "image/":
            check_for_learners(response.headers)
        if kind not in content_type:
            wanted = "JSON" if kind == "json" else "an image"
            raise FetchError(f"{content_type or 'an unnamed type'} instead of {wanted}")


def retry_after(text: str) -> float | None:
    """The seconds that a Retry-After header asks for, given as a number or as a date."""
    if text.strip().isdecimal():
        return float(text)
    try:
        until = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
