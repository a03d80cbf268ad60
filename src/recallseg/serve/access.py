"""Who may ask a server: the names it answers to, and the token that other machines must know."""

import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recallseg.errors import RecallsegError

WILDCARDS = ("0.0.0.0", "::", "")
OPEN_PATHS = ("/livez", "/readyz")
"""Machines that watch over servers ask for these by address and without a token; the answers say
nothing else."""
TOKEN = re.compile(r"[A-Za-z0-9._~-]{16,}")
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/@\s]+)(?::\d*)?")
"""A Host header: a name or an address, IPv6 in brackets, and perhaps a port."""


@dataclass(frozen=True)
class Access:
    """What a request must bring along; by default only to be for this machine by name."""

    names: frozenset[str] = frozenset()
    """Besides loopback, the hosts that requests may be for; in lower case."""
    own_address: bool = False
    """Whether they may be for the very address that they arrived at."""
    token: str | None = None

    @classmethod
    def to(cls, host: str, allow_hosts: list[str], token: str | None) -> "Access":
        """The rules for a server that listens on `host`; beyond loopback a token is a must."""
        if token is not None and not TOKEN.fullmatch(token):
            raise RecallsegError(
                "The token must have at least 16 characters out of letters, digits and '-._~'; "
                "leave --token out to have one made."
            )
        if token is None and not is_loopback(host):
            token = secrets.token_urlsafe(24)
        names = {bare(name) for name in (host, *allow_hosts)} - set(WILDCARDS)
        return cls(frozenset(names), host in WILDCARDS, token)

    def names_this(self, host: str, arrived_at: str | None) -> bool:
        """Whether a Host header is one that this server answers to.

        A page elsewhere whose name is led to this machine sends its own name here.
        """
        if not (match := HOST.fullmatch(host)):
            return False
        name = bare(match[1])
        if is_loopback(name) or name in self.names:
            return True
        return self.own_address and arrived_at is not None and name == bare(arrived_at)

    def knows_token(self, given: list[str]) -> bool:
        """Whether one of the texts is the token, in a time that does not tell how much of it is."""
        if self.token is None:
            return True
        wanted = self.token.encode()
        return any(hmac.compare_digest(text.encode(), wanted) for text in given)


class Gate:
    """Refuses requests for other hosts and without the token, before anything else looks at them.

    The token comes as `Authorization: Bearer`, or for a browser that opens a page as `?token=`.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a refusal, or hand the request on."""
        asks = scope["type"] in ("http", "websocket") and scope["path"] not in OPEN_PATHS
        refusal = self._refusal(scope) if asks else None
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        arrived_at = (scope.get("server") or (None,))[0]
        if len(hosts) != 1 or not self.access.names_this(hosts[0], arrived_at):
            return _refused(
                400, "This server does not answer to that name; start it with --allow-host NAME."
            )
        if not self.access.knows_token(_tokens(scope, headers)):
            return _refused(
                401,
                "This server needs the token that it was started with: send it as "
                "`Authorization: Bearer TOKEN`, or open the page with ?token=TOKEN.",
                {"WWW-Authenticate": "Bearer"},
            )
        return None


def _refused(code: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": detail}, code, {"Connection": "close"} | (headers or {}))


def _tokens(scope: Scope, headers: Headers) -> list[str]:
    kind, _, value = headers.get("authorization", "").partition(" ")
    tokens = [value.strip()] if kind.lower() == "bearer" else []
    if scope.get("method") in ("GET", "HEAD"):
        tokens += parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
    return tokens


def is_loopback(host: str) -> bool:
    """Whether a host is this machine for itself: localhost, 127.0.0.0/8 or ::1."""
    name = bare(host)
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback


def bare(host: str) -> str:
    """A host in lower case and without brackets; addresses in their shortest form."""
    name = host.strip().lower().removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name
    return str(getattr(address, "ipv4_mapped", None) or address)


def as_url_host(host: str) -> str:
    """A host as it is written in an address, IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host
