"""A photo site on this machine: a small server with Flickr's API.

Tests and the drawn world use it instead of the real site, so that the crawler is tested without a
network.
"""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

FLICKR_PATH = "/services/rest/"


@dataclass
class SitePhoto:
    """What a site says about a photo."""

    id: int
    tags: tuple[str, ...]
    description: str
    title: str = ""
    licence: int | None = 4
    """Flickr's id of it; 4 is CC BY 2.0."""
    owner: str = "Ada Example"


Photo = TypeVar("Photo", bound=SitePhoto)


def search_photos(photos: Iterable[Photo], query: str) -> list[Photo]:
    """Full-text search over title, description and tags, blanks ignored."""
    word = query.replace(" ", "").lower()
    return [
        photo
        for photo in photos
        if word in f"{photo.title} {photo.description} {photo.tags}".replace(" ", "").lower()
    ]


def flickr_answer(
    photos: Sequence[SitePhoto], query: Mapping[str, str], base: str, key: str | None = None
) -> dict[str, Any]:
    """What Flickr's REST API answers to a query; without `key` every API key is accepted."""
    if not query.get("api_key") or (key and query["api_key"] != key):
        message = "Invalid API Key (Key has invalid format)"
        return {"stat": "fail", "code": 100, "message": message}
    if query["method"] == "flickr.photos.licenses.getInfo":
        names = [{"id": 4, "name": "CC BY 2.0"}, {"id": 11, "name": "CC BY 4.0", "url": ""}]
        return {"licenses": {"license": names}, "stat": "ok"}
    size, page = int(query["per_page"]), int(query["page"])
    wanted = query["license"].split(",")
    fitting = [
        photo
        for photo in search_photos(photos, query["text"])
        if photo.licence is None or str(photo.licence) in wanted
    ]
    results = [_flickr_photo(photo, base) for photo in fitting[(page - 1) * size : page * size]]
    pages = -(-len(fitting) // size)
    about = {"page": page, "pages": pages, "perpage": size, "total": len(fitting)}
    return {"photos": about | {"photo": results}, "stat": "ok"}


def _flickr_photo(photo: SitePhoto, base: str) -> dict[str, Any]:
    entry = {
        "id": str(photo.id),
        "owner": "12345@N01",
        "secret": "5ec7e7",
        "server": "65535",
        "farm": 66,
        "title": photo.title,
        "ispublic": 1,
        "isfriend": 0,
        "isfamily": 0,
        "description": {"_content": photo.description},
        "ownername": photo.owner,
        "tags": " ".join(photo.tags),
        "url_z": f"{base}/photo/{photo.id}.jpg?zz=1",
        "height_z": 480,
        "width_z": 640,
    }
    return entry if photo.licence is None else entry | {"license": str(photo.licence)}


class Handler(BaseHTTPRequestHandler):
    """Answers with whole bodies, one per connection, and logs nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""

    def query(self) -> dict[str, str]:
        """The parameters after the question mark."""
        words = parse_qs(urlsplit(self.path).query)
        return {key: values[0] for key, values in words.items()}

    def photo_id(self) -> int | None:
        """The number in `/photo/NUMBER.jpg`, or None for another address."""
        path = urlsplit(self.path).path
        number = path.removeprefix("/photo/").removesuffix(".jpg")
        return int(number) if path.startswith("/photo/") and number.isdecimal() else None

    def send_json(self, value: object) -> None:
        """Answer with a JSON value."""
        self.send("application/json", json.dumps(value).encode())

    def send(
        self, kind: str, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer with bytes of a content type."""
        self.start(kind, len(body), status, headers)
        self.wfile.write(body)

    def start(
        self,
        kind: str,
        length: int | None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send the status and headers of an answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignore clients that hang up."""


class Loopback:
    """Serves on 127.0.0.1 while its block runs; `base` is the address."""

    port = 0
    """0 takes any free port."""

    def handler(self) -> type[Handler]:
        """The class whose objects answer requests."""
        raise NotImplementedError

    def build(self) -> ThreadingHTTPServer:
        """A server that is bound to its port and does not answer yet."""
        return _Server(("127.0.0.1", self.port), self.handler())

    def start(self) -> None:
        """Start answering, on a thread."""
        self.server = self.build()
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.base = f"http://{self.host}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Stop answering, and free the port."""
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
