"""The two pages, each in one piece, and the headers that keep them to themselves."""

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallseg.data.palette import OVERLAY_COLOURS

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(), microphone=(), camera=()",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Of every answer; a page has a policy of its own that lets its own parts run."""


class ProtectiveHeaders:
    """Puts the headers on every answer that does not bring its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and add to the head of what comes back."""

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, protected)


@dataclass(frozen=True)
class Page:
    """A document and the policy that fits it."""

    html: str
    policy: str


@cache
def main_page() -> Page:
    """The page to try a model on."""
    style = _part("page.css")
    panel = _part("panel.js").replace("/*colours*/[]", json.dumps(OVERLAY_COLOURS))
    script = panel + _part("page.js")
    html = _part("page.html").replace("/*style*/", style).replace("/*script*/", script)
    return Page(html, _policy(style, script))


def docs_page(schema: dict[str, Any], token: str = "") -> Page:
    """The documentation of the API, from its OpenAPI schema; its links pass a `token` on."""
    style = _part("page.css")
    template = Environment(autoescape=True).from_string(_part("docs.html"))
    components = schema.get("components", {}).get("schemas", {})
    query = f"?{urlencode({'token': token})}" if token else ""
    html = template.render(schema=schema, components=components, query=query)
    return Page(html.replace("/*style*/", style), _policy(style, ""))


def _part(name: str) -> str:
    return files("recallseg.serve").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Only this style and this script, photos of this server or of the page itself."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src 'self' data: blob:; connect-src 'self' blob: data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
