"""The crawl of three classes, killed again and again, loses nothing and fetches nothing twice."""

import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest
from photo_site import KEY, PhotoSite, draw, encoded, photos_of
from PIL import Image

from recallseg.replay import read_manifest

CLASSES = {"aeroplane": "airplane", "pottedplant": "potted plant", "dog": "dog"}
EACH = 40

CRAWLER = """
import sys
from pathlib import Path
from recallseg.replay import write_manifest
from recallseg.replay.web.fetching import FetchLimits, PoliteClient
from recallseg.replay.web.sites import FlickrSite
from recallseg.replay.web.crawler import WebSource

base, key, out, each, *classes = sys.argv[1:]
with PoliteClient(FetchLimits(interval=0), allow_hosts=[base.removeprefix("http://")]) as client:
    source = WebSource(FlickrSite(client, key, f"{base}/services/rest/", page_size=25), client)
    photos = [
        photo
        for name in classes
        for photo in source.collect(name, int(each), Path(out) / name, print)
    ]
write_manifest(Path(out) / "manifest.jsonl", photos)
"""


def everything() -> list:
    """50 sound photos a class among ones that must not be kept."""
    photos = []
    for place, word in enumerate(CLASSES.values()):
        start = 1000 * (place + 1)
        sound = photos_of(word, 50, start)
        bad = [
            *photos_of(word, 1, start + 100, answer="http://10.0.0.1/photo.jpg"),
            *photos_of(word, 1, start + 101, answer="http://169.254.169.254/latest/meta-data/"),
            *photos_of(word, 1, start + 102, licence=None),
            *photos_of(word, 1, start + 103, image=encoded(draw(start), quality=60)),
            *photos_of(word, 1, start + 104, image=encoded(draw(1000), quality=55)),
            *photos_of(word, 1, start + 105, answer="html"),
        ]
        photos += [*sound[:7], *bad, *sound[7:]]
    return photos


class Killer:
    """Runs the crawler and kills it where the site says so."""

    def __init__(self, site: PhotoSite, out) -> None:
        self.site, self.out = site, out
        self.stored: list[set[int]] = []
        """The photos on disk after each kill."""

    def start(self) -> None:
        words = [self.site.base, KEY, str(self.out), str(EACH), *CLASSES]
        self.process = subprocess.Popen([sys.executable, "-c", CRAWLER, *words])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        found = self.out.glob("*/flickr-*.jpg")
        self.stored.append({int(path.stem.removeprefix("flickr-")) for path in found})

    def run(self, hook: str, at: int) -> None:
        """Run until the request number `at` of a kind, and kill before the answer goes on."""
        seen = threading.Event()
        count = 0

        def strike(*_) -> None:
            nonlocal count
            count += 1
            if count == at:
                self.kill()
                seen.set()
                raise ConnectionAbortedError

        setattr(self.site, hook, strike)
        self.start()
        assert seen.wait(30), "the crawler ended before it was killed"
        setattr(self.site, hook, lambda *_: None)

    def run_for(self, photos: int, pause: float) -> None:
        """Run until some photos were sent, and kill a moment later, whatever happens then."""
        until = self.site.downloads.total() + photos
        self.start()
        deadline = time.monotonic() + 30
        while self.site.downloads.total() < until and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(pause)
        self.kill()

    def finish(self) -> None:
        self.start()
        assert self.process.wait(60) == 0


@pytest.fixture
def site():
    with PhotoSite(everything()) as site:
        yield site


def check_manifest(site: PhotoSite, out) -> list[int]:
    """What must hold of the result, however often the crawl was killed; gives the ids kept."""
    photos = read_manifest(out / "manifest.jsonl")
    assert [photo.class_name for photo in photos] == [name for name in CLASSES for _ in range(EACH)]
    assert len({photo.phash for photo in photos}) == len(photos)
    for photo in photos:
        assert photo.licence == "CC BY 2.0"
        assert photo.credit == "Ada Example"
        assert urlsplit(photo.origin).netloc == site.host
        with Image.open(photo.path(out / photo.class_name)) as image:
            image.load()
    on_disk = {path.name for path in out.glob("*/*") if path.name != "crawl.jsonl"}
    assert on_disk == {photo.file.name for photo in photos}
    return [int(photo.file.stem.removeprefix("flickr-")) for photo in photos]


def test_killed_at_requests_nothing_is_downloaded_twice(site, tmp_path, capfd):
    killer = Killer(site, tmp_path)
    killer.run("before_photo", 30)
    killer.run("before_search", 4)
    killer.run("mid_photo", 30)
    killer.finish()
    kept = check_manifest(site, tmp_path)
    sound = [range(1000 * place, 1000 * place + EACH) for place in (1, 2, 3)]
    assert kept == [number for numbers in sound for number in numbers]
    assert set(site.downloads.values()) == {1}
    assert len(killer.stored[-1]) > 60
    told = capfd.readouterr().out
    for words in ("2 private address", "2 duplicate", "1 without licence or credit"):
        assert words in told


@pytest.mark.slow
def test_killed_at_any_moment_no_stored_photo_is_asked_again(site, tmp_path):
    killer = Killer(site, tmp_path)
    for photos, pause in ((10, 0.0), (17, 0.004), (23, 0.011), (9, 0.002)):
        before = site.asked.copy()
        killer.run_for(photos, pause)
        for known in killer.stored[:-1]:
            assert known.isdisjoint(site.asked - before)
    before = site.asked.copy()
    killer.finish()
    assert all(known.isdisjoint(site.asked - before) for known in killer.stored)
    check_manifest(site, tmp_path)
    twice = [number for number, count in site.downloads.items() if count > 1]
    assert len(twice) <= len(killer.stored)
