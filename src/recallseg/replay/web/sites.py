"""Photo sites that can be searched by words: Flickr, Openverse and Wikimedia Commons.

Each client turns a page of its site's own JSON into candidates, with licence and credit.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recallseg.errors import RecallsegError
from recallseg.replay.web.fetching import PoliteClient
from recallseg.replay.web.searching import Candidate, Results, Site, ask, parsed, plain_text

KEY_VARIABLE = "FLICKR_API_KEY"
KEY_HELP = (
    f"Get a key at https://www.flickr.com/services/apps/create/ and put it into {KEY_VARIABLE}, "
    "or use the sites 'openverse' or 'commons', which need none."
)
FLICKR_LICENCES = {
    "0": "All Rights Reserved",
    "1": "CC BY-NC-SA 2.0",
    "2": "CC BY-NC 2.0",
    "3": "CC BY-NC-ND 2.0",
    "4": "CC BY 2.0",
    "5": "CC BY-SA 2.0",
    "6": "CC BY-ND 2.0",
    "7": "No known copyright restrictions",
    "8": "United States Government Work",
    "9": "CC0 1.0",
    "10": "Public Domain Mark 1.0",
}
"""Flickr's licence ids; names of newer ids come from `flickr.photos.licenses.getInfo`."""


@dataclass
class FlickrSite:
    """Flickr's REST API (`flickr.photos.search`), the site of the paper; it needs a key."""

    client: PoliteClient
    key: str | None = field(default=None, repr=False)
    base: str = "https://api.flickr.com/services/rest/"
    page_size: int = 100
    licences: tuple[int, ...] = tuple(range(1, 17))
    """Licence ids to search for: all but 0, "All Rights Reserved"."""
    name: str = "flickr"
    _names: dict[str, str] = field(default_factory=lambda: dict(FLICKR_LICENCES), repr=False)

    def __post_init__(self) -> None:
        self.key = self.key or os.environ.get(KEY_VARIABLE)
        if not self.key:
            raise RecallsegError(f"Flickr needs an API key and {KEY_VARIABLE} is empty. {KEY_HELP}")

    def search(self, query: str, page: int) -> Results:
        """Photos whose text holds the query, the most relevant first; Flickr shows 4000 at most."""
        answer = self._call(
            "flickr.photos.search",
            text=query,
            sort="relevance",
            media="photos",
            content_type="1",
            safe_search="1",
            license=",".join(map(str, self.licences)),
            extras="license,owner_name,tags,description,url_c,url_z,url_l,url_o",
            per_page=str(self.page_size),
            page=str(page),
        )
        return parsed(self.name, lambda: self._results(answer["photos"], page))

    def _results(self, photos: Mapping[str, Any], page: int) -> Results:
        candidates = tuple(self._candidate(photo) for photo in photos["photo"])
        within_limit = page * self.page_size < 4000
        return Results(
            candidates, bool(candidates) and within_limit and page < int(photos["pages"])
        )

    def _candidate(self, photo: Mapping[str, Any]) -> Candidate:
        sizes = (photo.get(f"url_{size}") for size in "czlo")
        return Candidate(
            id=str(photo["id"]),
            url=next((str(url) for url in sizes if url), ""),
            title=plain_text(photo.get("title")),
            description=plain_text(photo.get("description")),
            tags=tuple(plain_text(photo.get("tags")).split()),
            licence=self._licence(str(photo.get("license", ""))),
            credit=plain_text(photo.get("ownername")) or plain_text(photo.get("owner")),
            page=f"https://www.flickr.com/photos/{photo['owner']}/{photo['id']}",
        )

    def _licence(self, number: str) -> str:
        if number and number not in self._names:
            answer = self._call("flickr.photos.licenses.getInfo")
            listed = {
                str(one["id"]): plain_text(one["name"]) for one in answer["licenses"]["license"]
            }
            self._names |= {number: ""} | listed
        return self._names.get(number, "")

    def _call(self, method: str, **params: str) -> dict[str, Any]:
        common = {"api_key": self.key or "", "format": "json", "nojsoncallback": "1"}
        answer = ask(self.client, self.name, self.base, {"method": method} | params | common)
        if answer.get("stat") == "ok":
            return answer
        message, code = plain_text(answer.get("message")), answer.get("code")
        if code == 100:
            raise RecallsegError(f"Flickr refused the API key: {message}. {KEY_HELP}")
        raise RecallsegError(f"Flickr answered with error {code}: {message or 'no message'}.")


@dataclass
class OpenverseSite:
    """Openverse, which searches openly licensed photos of many sites and needs no key.

    Its results have no description, so the title is used instead. It shows 240 photos per
    query, at most 20 per page.
    """

    client: PoliteClient
    base: str = "https://api.openverse.org/v1/images/"
    page_size: int = 20
    name: str = "openverse"

    def search(self, query: str, page: int) -> Results:
        """Photos whose title, description or tags hold the query, the most relevant first."""
        params = {
            "q": query,
            "page": str(page),
            "page_size": str(self.page_size),
            "mature": "false",
        }
        answer = ask(self.client, self.name, self.base, params)
        return parsed(self.name, lambda: self._results(answer, page))

    def _results(self, answer: Mapping[str, Any], page: int) -> Results:
        results = answer["results"]
        shown = tuple(self._candidate(photo) for photo in results if not photo.get("mature"))
        return Results(shown, bool(results) and page < int(answer["page_count"]))

    def _candidate(self, photo: Mapping[str, Any]) -> Candidate:
        title = plain_text(photo.get("title"))
        return Candidate(
            id=str(photo["id"]),
            url=str(photo.get("url") or ""),
            title=title,
            description=title,
            tags=tuple(plain_text(tag["name"]) for tag in photo.get("tags") or ()),
            licence=_cc_name(
                plain_text(photo.get("license")), plain_text(photo.get("license_version"))
            ),
            credit=plain_text(photo.get("creator")) or plain_text(photo.get("attribution")),
            page=str(photo.get("foreign_landing_url") or ""),
        )


@dataclass
class CommonsSite:
    """Wikimedia Commons; its categories are the tags. It needs no key."""

    client: PoliteClient
    base: str = "https://commons.wikimedia.org/w/api.php"
    page_size: int = 50
    width: int = 960
    """Width of the downloaded thumbnail; Wikimedia serves 250, 330, 500, 960, 1280, 1920."""
    name: str = "commons"

    def search(self, query: str, page: int) -> Results:
        """Files of the kind bitmap that match the query; Commons shows 10,000 at most."""
        params = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            "gsrsearch": f"{query} filetype:bitmap",
            "gsrnamespace": "6",
            "gsrlimit": str(self.page_size),
            "gsroffset": str((page - 1) * self.page_size),
            "prop": "imageinfo",
            "iiprop": "url|extmetadata|size|mime",
            "iiurlwidth": str(self.width),
            "iiextmetadatalanguage": "en",
            "iiextmetadatafilter": "Artist|Categories|Credit|ImageDescription|LicenseShortName",
        }
        answer = ask(self.client, self.name, self.base, params)
        if "error" in answer:
            raise RecallsegError(f"Wikimedia Commons answered: {plain_text(answer['error'])[:200]}")
        return parsed(self.name, lambda: self._results(answer, page))

    def _results(self, answer: Mapping[str, Any], page: int) -> Results:
        files = answer.get("query", {}).get("pages", [])
        ordered = sorted(files, key=lambda file: int(file["index"]))
        candidates = tuple(self._candidate(file) for file in ordered if file.get("imageinfo"))
        within_limit = page * self.page_size < 10_000
        return Results(candidates, within_limit and "gsroffset" in answer.get("continue", {}))

    def _candidate(self, file: Mapping[str, Any]) -> Candidate:
        (info,) = file["imageinfo"]
        metadata = info.get("extmetadata") or {}
        texts = {key: plain_text(item["value"]) for key, item in metadata.items()}
        return Candidate(
            id=str(file["pageid"]),
            url=str(info.get("thumburl") or info.get("url") or ""),
            title=plain_text(file["title"]).removeprefix("File:"),
            description=texts.get("ImageDescription", ""),
            tags=tuple(filter(None, texts.get("Categories", "").split("|"))),
            licence=texts.get("LicenseShortName", ""),
            credit=texts.get("Artist") or texts.get("Credit", ""),
            page=str(info.get("descriptionurl") or ""),
        )


SITES: dict[str, Callable[..., Site]] = {
    "flickr": FlickrSite,
    "openverse": OpenverseSite,
    "commons": CommonsSite,
}


def _cc_name(licence: str, version: str) -> str:
    names = {"cc0": "CC0", "pdm": "Public Domain Mark", "": ""}
    name = names.get(licence, f"CC {licence.upper()}")
    return f"{name} {version}".strip() if name else ""
