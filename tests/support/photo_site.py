"""A photo site on loopback that speaks Flickr's, Openverse's and Commons' APIs, also badly."""

import gzip
import io
import ssl
import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import numpy as np
from bombs import gzip_bomb
from PIL import Image

from recallseg.replay.web.loopback import (
    FLICKR_PATH,
    Handler,
    Loopback,
    SitePhoto,
    flickr_answer,
    search_photos,
)

KEY = "0123456789abcdef0123456789abcdef"


def draw(seed: int, size: tuple[int, int] = (160, 120)) -> Image.Image:
    """Soft colour patches that differ from seed to seed as photos do."""
    patches = np.random.default_rng(seed).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    return Image.fromarray(patches).resize(size, Image.Resampling.BICUBIC)


def encoded(image: Image.Image, kind: str = "JPEG", **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def png_claiming(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header claims any size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


@dataclass
class Photo(SitePhoto):
    """A photo of the site; `answer` names how its download goes."""

    image: bytes = b""
    answer: str = "photo"

    def __post_init__(self):
        self.image = self.image or encoded(draw(self.id))


def photos_of(word: str, count: int, start: int, **options) -> list[Photo]:
    return [
        Photo(number, (word.replace(" ", ""), "outdoor"), f"A <b>{word}</b> &amp; more", **options)
        for number in range(start, start + count)
    ]


@dataclass
class PhotoSite(Loopback):
    """The site's photos, its orders to misbehave, and its records of what was asked."""

    photos: list[Photo]
    faults: list[str] = field(default_factory=list)
    """How the next search requests are answered, before all goes well."""
    requests: list[tuple[float, str]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    asked: Counter = field(default_factory=Counter)
    """Requests for a photo, by its id."""
    downloads: Counter = field(default_factory=Counter)
    """Downloads that the site sent to the end, by the photo's id."""
    before_photo: Callable[[int], None] = lambda number: None
    """Called with the number of the photo request, before and in the middle of the answer."""
    mid_photo: Callable[[int], None] = lambda number: None
    before_search: Callable[[], None] = lambda: None
    tls: ssl.SSLContext | None = None
    robots: str | None = None
    """What robots.txt says; without it there is none."""
    robots_asked: int = 0
    photo_headers: dict[str, str] = field(default_factory=dict)
    """Headers that come with every photo."""

    def __enter__(self) -> "PhotoSite":
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def handler(self):
        return type("SiteHandler", (_Handler,), {"site": self})

    def build(self):
        server = super().build()
        if self.tls:
            server.socket = self.tls.wrap_socket(server.socket, server_side=True)
        return server

    def found(self, query: str) -> list[Photo]:
        return search_photos(self.photos, query)


class _Handler(Handler):
    site: PhotoSite

    def do_GET(self):
        if self.path == "/robots.txt":
            self.send_robots()
            return
        self.site.requests.append((time.monotonic(), self.path))
        self.site.agents.add(self.headers["User-Agent"])
        number = self.photo_id()
        if number is not None:
            self.photo(number)
            return
        self.site.before_search()
        if self.site.faults and self.fault(self.site.faults.pop(0)):
            return
        answers = {FLICKR_PATH: flickr, "/v1/images/": openverse, "/w/api.php": commons}
        self.send_json(answers[urlsplit(self.path).path](self.site, self.query()))

    def send_robots(self):
        self.site.robots_asked += 1
        status = 404 if self.site.robots is None else 200
        if self.site.robots == "500":
            status = 500
        self.send("text/plain", (self.site.robots or "").encode(), status)

    def fault(self, fault: str) -> bool:
        """Answer wrongly; tell whether an answer was sent."""
        if fault == "slow":
            time.sleep(1.0)
        elif fault == "html":
            self.send("text/html; charset=utf-8", b"<html>Please log in to the Wi-Fi</html>")
        elif fault.startswith("json "):
            self.send("application/json", fault.removeprefix("json ").encode())
        else:
            status, _, wait = fault.partition(" ")
            self.send("text/plain", b"no", int(status), {"Retry-After": wait} if wait else {})
        return fault != "slow"

    def photo(self, number: int):
        photo = next(one for one in self.site.photos if one.id == number)
        self.site.asked[number] += 1
        turn = self.site.asked.total()
        self.site.before_photo(turn)
        if ":" in photo.answer:
            self.send("text/plain", b"", 302, {"Location": photo.answer})
        elif photo.answer.isdecimal():
            self.send("text/plain", b"", int(photo.answer))
        elif photo.answer == "once 429":
            photo.answer = "photo"
            self.send("text/plain", b"", 429, {"Retry-After": "1"})
        else:
            getattr(self, f"photo_{photo.answer}")(photo, turn)

    def photo_photo(self, photo: Photo, turn: int):
        half = len(photo.image) // 2
        self.start("image/jpeg", len(photo.image), headers=self.site.photo_headers)
        self.wfile.write(photo.image[:half])
        self.site.mid_photo(turn)
        self.wfile.write(photo.image[half:])
        self.site.downloads[photo.id] += 1

    def photo_loop(self, photo: Photo, turn: int):
        self.send("text/plain", b"", 302, {"Location": self.path})

    def photo_html(self, photo: Photo, turn: int):
        self.send("text/html", b"<html>This photo is no longer available</html>")

    def photo_huge(self, photo: Photo, turn: int):
        self.start("image/jpeg", 2 * 1024**3)
        self.wfile.write(photo.image)

    def photo_endless(self, photo: Photo, turn: int):
        self.start("image/jpeg", None)
        for _ in range(4000):
            self.wfile.write(bytes(65536))

    def photo_drip(self, photo: Photo, turn: int):
        self.start("image/jpeg", len(photo.image))
        for place in range(100):
            self.wfile.write(photo.image[place : place + 1])
            time.sleep(0.05)

    def photo_packed(self, photo: Photo, turn: int):
        self.send("image/jpeg", gzip.compress(photo.image), headers={"Content-Encoding": "gzip"})

    def photo_gzip_bomb(self, photo: Photo, turn: int):
        self.send("image/jpeg", gzip_bomb(layers=1), headers={"Content-Encoding": "gzip"})

    def photo_nested_bomb(self, photo: Photo, turn: int):
        headers = {"Content-Encoding": "gzip, gzip"}
        self.send("image/jpeg", gzip_bomb(layers=2), headers=headers)

    def photo_unpackable(self, photo: Photo, turn: int):
        self.send("image/jpeg", photo.image, headers={"Content-Encoding": "gzip"})

    def photo_cut(self, photo: Photo, turn: int):
        self.start("image/jpeg", len(photo.image))
        self.wfile.write(photo.image[:100])


def flickr(site: PhotoSite, query: dict[str, str]) -> dict:
    return flickr_answer(site.photos, query, site.base, KEY)


def openverse(site: PhotoSite, query: dict[str, str]) -> dict:
    size, page, found = int(query["page_size"]), int(query["page"]), site.found(query["q"])
    shown = [
        {
            "id": f"4bc43a04-ef46-4544-a0c1-{photo.id:012}",
            "title": photo.title,
            "foreign_landing_url": f"https://example.org/{photo.id}?a=1&copy=2",
            "url": f"{site.base}/photo/{photo.id}.jpg",
            "creator": photo.owner or None,
            "license": "by-sa",
            "license_version": "2.0",
            "tags": [{"name": tag, "accuracy": None} for tag in photo.tags],
            "attribution": None,
            "fields_matched": ["title"],
            "mature": False,
        }
        for photo in found[(page - 1) * size : page * size]
    ]
    about = {"result_count": len(found), "page_count": -(-len(found) // size), "page_size": size}
    return about | {"page": page, "results": shown}


def commons(site: PhotoSite, query: dict[str, str]) -> dict:
    word = query["gsrsearch"].removesuffix(" filetype:bitmap")
    size, offset, found = int(query["gsrlimit"]), int(query["gsroffset"]), site.found(word)
    if not found:
        return {"batchcomplete": True}
    shown = [
        {
            "pageid": photo.id,
            "ns": 6,
            "title": f"File:{photo.title or photo.id}.jpg",
            "index": offset + place + 1,
            "imagerepository": "local",
            "imageinfo": [
                {
                    "size": len(photo.image),
                    "width": 160,
                    "height": 120,
                    "thumburl": f"{site.base}/photo/{photo.id}.jpg",
                    "url": "https://upload.wikimedia.org/original.jpg",
                    "descriptionurl": f"https://commons.wikimedia.org/wiki/File:{photo.id}.jpg",
                    "mime": "image/jpeg",
                    "extmetadata": {
                        "Artist": {
                            "value": f'<a href="//x">{photo.owner}</a>',
                            "source": "commons",
                        },
                        "ImageDescription": {"value": photo.description},
                        "Categories": {"value": "|".join(photo.tags)},
                        "LicenseShortName": {"value": "CC BY-SA 4.0"},
                    },
                }
            ],
        }
        for place, photo in enumerate(found[offset : offset + size])
    ]
    answer = {"batchcomplete": True, "query": {"pages": shown[::-1]}}
    if offset + size < len(found):
        answer["continue"] = {"gsroffset": offset + size, "continue": "gsroffset||"}
    return answer
