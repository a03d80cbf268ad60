"""The drawn world's photo site, crawled by the same source as the real one."""

import io
from collections import Counter

import pytest
from PIL import Image

from recallseg.data.voc import CLASSES
from recallseg.errors import RecallsegError
from recallseg.replay.photos import read_manifest, write_manifest
from recallseg.replay.queries import query_of
from recallseg.replay.web import toy_site
from recallseg.replay.web.sites import FLICKR_LICENCES
from recallseg.replay.web.toy_site import KINDS, LICENCES, OWNERS, ToySite, toy_photos
from recallseg.replay.web_source import WebSettings


@pytest.fixture(scope="module")
def site():
    with ToySite(per_class=25) as site:
        yield site


@pytest.fixture
def source(site, monkeypatch):
    monkeypatch.setenv("FLICKR_API_KEY", "any word")

    def build(**options):
        config = {
            "site": "flickr",
            "base_url": site.api,
            "allow_hosts": ["127.0.0.1"],
            "interval": 0,
        }
        return WebSettings.model_validate(config | options).open()

    return build


def kept_of(site, photos):
    return [site.photos[int(photo.file.stem.removeprefix("flickr-")) - 1] for photo in photos]


@pytest.mark.parametrize("name", ["aeroplane", "diningtable", "sheep"])
def test_the_web_source_finds_photos_with_licence_and_credit(name, site, source, tmp_path):
    said = []
    photos = source().collect(name, 12, tmp_path / name, said.append)
    assert len(photos) == 12
    write_manifest(tmp_path / "manifest.jsonl", photos)
    for photo in read_manifest(tmp_path / "manifest.jsonl"):
        assert photo.class_name == name
        assert photo.query == query_of(name)
        assert photo.licence in {FLICKR_LICENCES[str(number)] for number in LICENCES}
        assert photo.credit in OWNERS
        assert photo.origin.startswith(f"{site.base}/photo/")
        with Image.open(photo.path(tmp_path / name)) as image:
            assert min(image.size) >= 96


def test_words_that_disagree_are_filtered(site, source, tmp_path):
    said = []
    strict = source().collect("sheep", 1000, tmp_path / "both" / "sheep", said.append)
    for photo in kept_of(site, strict):
        assert photo.kind != "undescribed"
        assert "sheep" in photo.shows or photo.kind == "misnamed"
    assert "without 'sheep' in tags and description" in said[0]
    lenient = source(match="any").collect("sheep", 1000, tmp_path / "any" / "sheep", said.append)
    more = [photo for photo in kept_of(site, lenient) if "sheep" not in photo.shows]
    assert "mistagged" in {photo.kind for photo in more}
    assert "undescribed" in {photo.kind for photo in kept_of(site, lenient)}


def test_a_photo_that_was_put_up_twice_is_taken_once(site, source, tmp_path):
    again = next(photo for photo in site.photos if photo.kind == "twice")
    (name,) = again.shows
    assert site.photo(again.id) == site.photo(again.id - 1)
    said = []
    photos = source().collect(name, 1000, tmp_path / name, said.append)
    assert len({again.id, again.id - 1} & {photo.id for photo in kept_of(site, photos)}) == 1
    assert "duplicate" in said[0]


def test_most_photos_are_what_they_say():
    photos = toy_photos(50)
    assert photos == toy_photos(50)
    assert photos != toy_photos(50, seed=1)
    assert [photo.id for photo in photos] == list(range(1, 1001))
    kinds = Counter(photo.kind for photo in photos)
    for kind, share in KINDS.items():
        assert kinds[kind] / 10 == pytest.approx(share, abs=4)
    for photo in photos:
        put_up_as = CLASSES[1 + (photo.id - 1) // 50]
        assert query_of(put_up_as).replace(" ", "") in photo.tags
        assert bool(photo.description) == (photo.kind != "undescribed")
        assert (put_up_as in photo.shows) == (photo.kind not in ("mistagged", "misnamed"))


def test_photos_are_drawn_when_they_are_asked_for(monkeypatch):
    drawn = []
    draw = toy_site.draw_snapshot
    monkeypatch.setattr(toy_site, "draw_snapshot", lambda *key: drawn.append(key) or draw(*key))
    site = ToySite(per_class=3, seed=77)
    assert drawn == []
    jpeg = site.photo(5)
    assert site.photo(5) == jpeg
    assert len(drawn) == 1
    with Image.open(io.BytesIO(jpeg)) as image:
        assert image.size == site.photos[4].size
    assert site.photo(0) is site.photo(61) is None


def test_a_search_without_a_key_is_refused_as_by_flickr(site, source):
    import httpx

    answer = httpx.get(site.api, params={"method": "flickr.photos.search"}, trust_env=False)
    assert answer.json()["code"] == 100
    for path in ("/photo/0.jpg", "/photo/x.jpg", "/elsewhere"):
        assert httpx.get(site.base + path, trust_env=False).status_code == 404


def test_a_taken_port_is_a_sentence(site):
    with (
        pytest.raises(RecallsegError, match="taken; choose another"),
        ToySite(per_class=1, port=site.server.server_port),
    ):
        pass
