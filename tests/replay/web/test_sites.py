"""The three sites' answers, read from a server that has their shapes."""

import pytest
from photo_site import KEY, Photo, PhotoSite, photos_of

from recallseg.errors import RecallsegError
from recallseg.replay.web.fetching import FetchLimits, PoliteClient
from recallseg.replay.web.searching import SITE_NAMES, Results
from recallseg.replay.web.sites import SITES, CommonsSite, FlickrSite, OpenverseSite

QUICK = FetchLimits(interval=0, attempts=2, backoff=0.01)


@pytest.fixture
def client():
    with PoliteClient(QUICK, allow_hosts=["127.0.0.1"]) as client:
        yield client


@pytest.fixture
def site():
    with PhotoSite(photos_of("potted plant", 5, start=1)) as site:
        yield site


def opened(name: str, site: PhotoSite, client: PoliteClient, size: int = 2):
    if name == "flickr":
        return FlickrSite(client, KEY, f"{site.base}/services/rest/", size)
    if name == "openverse":
        return OpenverseSite(client, f"{site.base}/v1/images/", size)
    return CommonsSite(client, f"{site.base}/w/api.php", size)


@pytest.mark.parametrize("name", SITES)
def test_pages_follow_each_other_and_end(name, site, client):
    pages = [opened(name, site, client).search("potted plant", page) for page in (1, 2, 3)]
    assert [len(page.candidates) for page in pages] == [2, 2, 1]
    assert [page.more for page in pages] == [True, True, False]
    numbers = [int(found.id[-3:]) for page in pages for found in page.candidates]
    assert numbers == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("name", SITES)
def test_nothing_found_is_an_empty_page(name, site, client):
    assert opened(name, site, client).search("zebra", 1) == Results((), more=False)


def test_a_candidate_of_flickr(site, client):
    site.photos[0].title = "My plant"
    found = opened("flickr", site, client).search("potted plant", 1).candidates[0]
    assert found.id == "1"
    assert found.url == f"{site.base}/photo/1.jpg?zz=1"
    assert (found.title, found.description) == ("My plant", "A potted plant & more")
    assert found.tags == ("pottedplant", "outdoor")
    assert (found.licence, found.credit) == ("CC BY 2.0", "Ada Example")
    assert found.page == "https://www.flickr.com/photos/12345@N01/1"


def test_a_candidate_of_openverse_has_its_title_for_a_description(site, client):
    site.photos[0].title = "Potted plant in a pot"
    found = opened("openverse", site, client).search("potted plant", 1).candidates[0]
    assert found.url == f"{site.base}/photo/1.jpg"
    assert found.description == found.title == "Potted plant in a pot"
    assert found.tags == ("pottedplant", "outdoor")
    assert (found.licence, found.credit) == ("CC BY-SA 2.0", "Ada Example")
    assert found.page == "https://example.org/1?a=1&copy=2"


def test_a_candidate_of_commons_is_a_thumbnail(site, client):
    found = opened("commons", site, client).search("potted plant", 1).candidates[0]
    assert found.url == f"{site.base}/photo/1.jpg"
    assert (found.title, found.description) == ("1.jpg", "A potted plant & more")
    assert found.tags == ("pottedplant", "outdoor")
    assert (found.licence, found.credit) == ("CC BY-SA 4.0", "Ada Example")
    assert found.page == "https://commons.wikimedia.org/wiki/File:1.jpg"


def test_flickr_is_asked_once_for_the_name_of_each_newer_licence(client):
    photos = [Photo(number, ("cat",), "cat", licence=11) for number in (1, 2)]
    with PhotoSite([*photos, Photo(3, ("cat",), "cat", licence=12)]) as site:
        found = opened("flickr", site, client, 3).search("cat", 1).candidates
    assert [one.licence for one in found] == ["CC BY 4.0", "CC BY 4.0", ""]
    assert sum("getInfo" in path for _, path in site.requests) == 2


def test_photos_with_all_rights_reserved_are_not_searched(client):
    with PhotoSite([Photo(1, ("cat",), "cat", licence=0)]) as site:
        assert opened("flickr", site, client).search("cat", 1).candidates == ()


def test_flickr_without_a_key_says_where_to_get_one(client, monkeypatch):
    monkeypatch.delenv("FLICKR_API_KEY", raising=False)
    with pytest.raises(RecallsegError) as caught:
        FlickrSite(client)
    for words in ("FLICKR_API_KEY", "flickr.com/services", "'openverse' or 'commons'"):
        assert words in str(caught.value)


def test_flickrs_key_comes_from_the_environment_and_is_not_shown(client, monkeypatch, site):
    monkeypatch.setenv("FLICKR_API_KEY", KEY)
    flickr = FlickrSite(client, base=f"{site.base}/services/rest/")
    assert len(flickr.search("potted plant", 1).candidates) == 5
    assert KEY not in repr(flickr)


def test_a_wrong_key_is_one_sentence(client, site):
    flickr = FlickrSite(client, "wrong", f"{site.base}/services/rest/")
    with pytest.raises(RecallsegError, match="refused the API key: Invalid API Key"):
        flickr.search("cat", 1)


@pytest.mark.parametrize("name", SITES)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("html", "text/html instead of JSON"),
        ("500", "HTTP 500"),
        ("403", "HTTP 403"),
        ("json {", "not JSON"),
        ("json []", "shape"),
        ('json {"photos": 3, "results": 3, "query": 3, "stat": "ok"}', "shape"),
    ],
)
def test_bad_answers_are_one_sentence(name, fault, words, site, client):
    site.faults += [fault, fault]
    with pytest.raises(RecallsegError, match=words) as caught:
        opened(name, site, client).search("potted plant", 1)
    assert KEY not in str(caught.value)
    assert all(known in str(caught.value) for known in SITE_NAMES)


def test_errors_that_a_site_puts_into_words_are_passed_on(site, client):
    site.faults += ['json {"stat": "fail", "code": 10, "message": "Search is down"}']
    with pytest.raises(RecallsegError, match="error 10: Search is down"):
        opened("flickr", site, client).search("cat", 1)
    site.faults += ['json {"error": {"code": "badvalue", "info": "Unrecognized value"}}']
    with pytest.raises(RecallsegError, match="Wikimedia Commons answered: Unrecognized value"):
        opened("commons", site, client).search("cat", 1)


def test_a_private_site_must_be_allowed_by_name(site):
    with PoliteClient(QUICK) as client, pytest.raises(RecallsegError, match="allows them by name"):
        opened("openverse", site, client).search("cat", 1)
    assert site.requests == []


def test_the_names_agree():
    assert tuple(SITES) == SITE_NAMES
