"""The drawn world's photo site, with photos and descriptions like those of real users.

Most photos show what their description says. Some have no description, some show something else,
some show two things, and some were uploaded twice, as on any site.
"""

import errno
import functools
import io
from dataclasses import dataclass, field, replace
from types import TracebackType
from urllib.parse import urlsplit

from PIL import Image

from recallseg.data.toy.dice import Dice
from recallseg.data.toy.portraits import draw_snapshot
from recallseg.data.voc import CLASSES
from recallseg.errors import RecallsegError
from recallseg.replay.queries import query_of
from recallseg.replay.web.loopback import FLICKR_PATH, Handler, Loopback, SitePhoto, flickr_answer

SIZES = ((128, 96), (128, 96), (96, 128), (112, 112))
OWNERS = ("Ada Example", "Ben Sample", "Chi Muster", "Dua Prova", "Eli Esempio")
LICENCES = (1, 2, 4, 5, 9)
SENTENCES = (
    "My {}, taken last summer.",
    "This {} was here all day.",
    "Found a {} on my way home.",
    "One more {} for the album &amp; a <b>good</b> one.",
)
OTHER_TAGS = ("summer", "film", "2021", "home", "favourite", "color", "walk")
KINDS = {"right": 60, "two": 14, "undescribed": 9, "mistagged": 8, "misnamed": 3, "twice": 6}
"""How many of a hundred photos are of each kind. A misnamed one has wrong tags and description."""


@dataclass
class ToyPhoto(SitePhoto):
    """A photo of the site, and what it really shows."""

    shows: tuple[str, ...] = ()
    kind: str = "right"
    drawing: int = 0
    size: tuple[int, int] = SIZES[0]


def toy_photos(per_class: int, seed: int = 0) -> list[ToyPhoto]:
    """The photos that are uploaded for each class, in the order of the classes."""
    photos: list[ToyPhoto] = []
    for name in CLASSES[1:]:
        for number in range(per_class):
            photo = _photo(len(photos) + 1, name, seed)
            if photo.kind == "twice":
                photo = _again(photo, photos[-1] if number else photo)
            photos.append(photo)
    return photos


def _again(photo: ToyPhoto, first: ToyPhoto) -> ToyPhoto:
    """The previous photo again, under a new number; only right ones are uploaded twice."""
    if first.kind != "right":
        return replace(photo, kind="right")
    return replace(photo, drawing=first.drawing, size=first.size)


def _photo(number: int, name: str, seed: int) -> ToyPhoto:
    """A photo that someone uploads as one of class `name`."""
    dice = Dice(seed, 4, number)
    kind = dice.weighted(KINDS)
    other = dice.pick([one for one in CLASSES[1:] if one != name])
    shows, described = {
        "two": ((name, other), (name, other)),
        "mistagged": ((other,), (other,)),
        "misnamed": ((other,), (name,)),
    }.get(kind, ((name,), (name,)))
    words = " and the ".join(query_of(one) for one in described)
    tagged = dict.fromkeys((name, *described))
    return ToyPhoto(
        id=number,
        tags=(*(query_of(one).replace(" ", "") for one in tagged), dice.pick(OTHER_TAGS)),
        description="" if kind == "undescribed" else dice.pick(SENTENCES).format(words),
        title=dice.pick(
            ("", f"IMG_{4000 + number}", f"{query_of(name).capitalize()} no. {number}")
        ),
        licence=dice.pick(LICENCES),
        owner=dice.pick(OWNERS),
        shows=shows,
        kind=kind,
        drawing=number,
        size=dice.pick(SIZES),
    )


@functools.lru_cache(maxsize=4096)
def _jpeg(seed: int, drawing: int, shows: tuple[str, ...], size: tuple[int, int]) -> bytes:
    buffer = io.BytesIO()
    pixels = draw_snapshot(seed, drawing, shows, size)
    Image.fromarray(pixels).save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


@dataclass
class ToySite(Loopback):
    """The site as a context manager; `api` is the value for the setting `replay.web.base_url`."""

    per_class: int = 200
    seed: int = 0
    port: int = 0
    photos: list[ToyPhoto] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.photos = toy_photos(self.per_class, self.seed)

    def __enter__(self) -> "ToySite":
        try:
            self.start()
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                raise RecallsegError(
                    f"Port {self.port} of this machine is taken; choose another."
                ) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def api(self) -> str:
        """The address of its Flickr API."""
        return self.base + FLICKR_PATH

    def photo(self, number: int) -> bytes | None:
        """The JPEG of a photo, drawn when it is first asked for."""
        if not 0 < number <= len(self.photos):
            return None
        photo = self.photos[number - 1]
        return _jpeg(self.seed, photo.drawing, photo.shows, photo.size)

    def handler(self) -> type[Handler]:
        """Answers searches and sends photos."""
        site = self

        class ToyHandler(Handler):
            def do_GET(self) -> None:
                _answer(self, site)

        return ToyHandler


def _answer(request: Handler, site: ToySite) -> None:
    number = request.photo_id()
    jpeg = None if number is None else site.photo(number)
    if jpeg is not None:
        request.send("image/jpeg", jpeg)
    elif urlsplit(request.path).path == FLICKR_PATH:
        request.send_json(flickr_answer(site.photos, request.query(), site.base))
    else:
        request.send("text/plain", b"not found", 404)
