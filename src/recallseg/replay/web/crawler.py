"""Replay by web crawler (paper, sec. "Replay by Web Crawler"): photos found by class name."""

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recallseg.errors import RecallsegError
from recallseg.files import atomic_path, file_digest
from recallseg.replay.photos import ReplayPhoto
from recallseg.replay.queries import MatchRule, matches, query_of
from recallseg.replay.source import Say, Source
from recallseg.replay.web.decoding import PhotoRules, clean_jpeg, fingerprint, is_near
from recallseg.replay.web.failures import BadPhoto, FetchError
from recallseg.replay.web.fetching import PoliteClient
from recallseg.replay.web.journal import JOURNAL_NAME, Entry, Journal, sibling_journals
from recallseg.replay.web.searching import Candidate, Site
from recallseg.replay.web.unsafe import UnsafeFilter


@dataclass(frozen=True)
class WebSource(Source):
    """Photos that a site finds for a class name, filtered, checked, cleaned and credited.

    Each class has a folder with its photos and a journal; classes with folders in the same parent
    folder share no photo and no near duplicate.
    """

    site: Site
    client: PoliteClient
    match: MatchRule = "both"
    queries: Mapping[str, str] = field(default_factory=dict)
    """Class name to query; takes precedence over the built-in table."""
    rules: PhotoRules = field(default_factory=PhotoRules)
    patience: int = 5
    """After this number of failed downloads in a row the crawl stops."""
    unsafe: UnsafeFilter | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """The site's name."""
        return self.site.name

    def collect(self, class_name: str, count: int, folder: Path, say: Say) -> list[ReplayPhoto]:
        """Download until `count` photos of the class are in `folder`, or the site has no more."""
        _sweep(folder)
        crawl = _Crawl(self, class_name, folder)
        if len(crawl.photos) < count:
            try:
                crawl.run(count)
            finally:
                say(crawl.summary(count))
        if not crawl.photos:
            say(f"Warning: {self.name} has no photo for '{class_name}' (query '{crawl.query}').")
        elif len(crawl.photos) < count:
            say(
                f"Warning: {self.name} has {len(crawl.photos)} of {count} photos for "
                f"'{class_name}' (query '{crawl.query}')."
            )
        return crawl.photos[:count]


class _Crawl:
    """The crawl of one class: its photos, its journal, and why other candidates were left."""

    def __init__(self, source: WebSource, class_name: str, folder: Path) -> None:
        self.source = source
        self.class_name = class_name
        self.folder = folder
        self.query = query_of(class_name, source.queries)
        self.journal = Journal(folder / JOURNAL_NAME)
        _forget_damaged(self.journal, folder)
        self.photos = [photo for photo in self.journal.photos() if photo.path(folder).is_file()]
        self.hashes: list[str] = []
        self.taken: set[str] = set()
        entries = self.journal.entries.values()
        self.left = Counter(entry.reason for entry in entries if entry.outcome == "rejected")
        self.failures = 0

    def run(self, count: int) -> None:
        """Go through the candidates until there are `count` photos."""
        others = list(sibling_journals(self.folder))
        self.hashes = [photo.phash for one in (self.journal, *others) for photo in one.photos()]
        self.taken = {key for one in others for key in one.entries if one.judged(key)}
        for candidate in self._candidates():
            key = f"{self.source.site.name}:{candidate.id}"
            if self.journal.judged(key):
                continue
            if reason := self._unfit(candidate, key):
                self.left[reason] += 1
                continue
            self._take(candidate, key)
            if len(self.photos) >= count:
                return

    def summary(self, count: int) -> str:
        """One sentence with the number of photos, and the number left out by reason."""
        reasons = ", ".join(f"{number} {reason}" for reason, number in self.left.most_common())
        left = f"; left {self.left.total()}: {reasons}" if reasons else ""
        stored = min(len(self.photos), count)
        return f"{self.class_name}: {stored} of {count} photos from {self.source.name}{left}."

    def _candidates(self) -> Iterator[Candidate]:
        """All results, page by page; a page without new ones ends the search."""
        ids: set[str] = set()
        page, more = 1, True
        while more:
            results = self.source.site.search(self.query, page)
            fresh = {one.id: one for one in results.candidates if one.id not in ids}
            yield from fresh.values()
            ids |= fresh.keys()
            page, more = page + 1, results.more and bool(fresh)

    def _unfit(self, candidate: Candidate, key: str) -> str:
        """Why a candidate is not downloaded; empty if it is."""
        if not matches(candidate.tags, candidate.description, self.query, self.source.match):
            where = "tags and description" if self.source.match == "both" else "any text"
            return f"without '{self.query}' in {where}"
        if not candidate.licence or not candidate.credit:
            return "without licence or credit"
        return "seen for another class" if key in self.taken else ""

    def _take(self, candidate: Candidate, key: str) -> None:
        try:
            photo = self._store(candidate)
        except FetchError as error:
            self._note_failure(error, key)
        except BadPhoto as error:
            self._leave(key, error.reason)
        else:
            self.journal.add(Entry(key, "kept", photo=photo))
            self.photos.append(photo)
            self.hashes.append(photo.phash)
            self.failures = 0

    def _store(self, candidate: Candidate) -> ReplayPhoto:
        """Download a photo, or use the file if a crawl was killed right after storing it."""
        path = self.folder / _file_name(self.source.site.name, candidate.id)
        if path.is_file():
            jpeg = path.read_bytes()
        else:
            jpeg = clean_jpeg(self.source.client.image(candidate.url), self.source.rules)
            if self.source.unsafe:
                self.source.unsafe.check(jpeg)
        phash = fingerprint(jpeg)
        if is_near(phash, self.hashes, self.source.rules.near):
            path.unlink(missing_ok=True)
            raise BadPhoto("duplicate")
        if not path.is_file():
            with atomic_path(path) as temporary:
                temporary.write_bytes(jpeg)
        return ReplayPhoto(
            class_name=self.class_name,
            file=Path(path.name),
            source=self.source.site.name,
            query=self.query,
            origin=candidate.url,
            title=candidate.title,
            licence=candidate.licence,
            credit=candidate.credit,
            sha256=hashlib.sha256(jpeg).hexdigest(),
            phash=phash,
            page=candidate.page,
        )

    def _note_failure(self, error: FetchError, key: str) -> None:
        if error.kind == "refused":
            self._leave(key, error.reason)
            return
        self.journal.add(Entry(key, "failed", error.reason))
        self.left[error.reason] += 1
        self.failures += 1
        if error.kind == "busy" or self.failures >= self.source.patience:
            raise RecallsegError(
                f"{self.source.name} gave no photo for '{self.class_name}': {error.reason}. The "
                f"{len(self.photos)} photos downloaded so far are kept; run the same command later "
                "to continue."
            ) from error

    def _leave(self, key: str, reason: str) -> None:
        self.journal.add(Entry(key, "rejected", reason))
        self.left[reason] += 1
        self.failures = 0


def _file_name(site: str, photo_id: str) -> str:
    """A file name for a site's photo id; an id with unusual characters is replaced by its hash."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", photo_id):
        photo_id = hashlib.sha256(photo_id.encode()).hexdigest()[:20]
    return f"{site}-{photo_id}.jpg"


def _forget_damaged(journal: Journal, folder: Path) -> None:
    """Delete photos that are not what was downloaded, so that they are downloaded again."""
    for key, entry in list(journal.entries.items()):
        path = entry.photo and entry.photo.path(folder)
        if entry.photo and path and path.is_file() and file_digest(path) != entry.photo.sha256:
            path.unlink()
            del journal.entries[key]


def _sweep(folder: Path) -> None:
    """Remove the temporary folders of a killed crawl."""
    for scratch in folder.glob(".*.tmp"):
        shutil.rmtree(scratch, ignore_errors=True)
