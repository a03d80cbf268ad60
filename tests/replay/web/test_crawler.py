"""The crawler: what it keeps, what it leaves and why, and what it remembers."""

import io
import json

import pytest
from bombs import scan_bomb
from photo_site import KEY, Photo, PhotoSite, draw, encoded, photos_of, png_claiming
from PIL import Image

from recallseg.errors import RecallsegError
from recallseg.replay.web.crawler import WebSource
from recallseg.replay.web.decoding import PhotoRules, clean_jpeg, fingerprint, is_near
from recallseg.replay.web.failures import BadPhoto
from recallseg.replay.web.fetching import FetchLimits, PoliteClient
from recallseg.replay.web.sites import FlickrSite

QUICK = FetchLimits(interval=0, attempts=2, backoff=0.01, max_bytes=500_000)


def crawl(site: PhotoSite, folder, count=10, class_name="cat", **options):
    """Collect one class; gives the photos and what was said."""
    said = []
    with PoliteClient(QUICK, allow_hosts=[site.host]) as client:
        flickr = FlickrSite(client, KEY, f"{site.base}/services/rest/", page_size=4)
        source = WebSource(flickr, client, **options)
        return source.collect(class_name, count, folder / class_name, said.append), said


def ids(photos) -> list[int]:
    return [int(photo.file.stem.removeprefix("flickr-")) for photo in photos]


def test_photos_come_with_all_that_the_manifest_needs(tmp_path):
    with PhotoSite(photos_of("airplane", 6, start=1)) as site:
        photos, said = crawl(site, tmp_path, 5, "aeroplane")
    assert ids(photos) == [1, 2, 3, 4, 5]
    first = photos[0]
    assert (first.class_name, first.query, first.source) == ("aeroplane", "airplane", "flickr")
    assert (first.licence, first.credit) == ("CC BY 2.0", "Ada Example")
    assert first.origin == f"{site.base}/photo/1.jpg?zz=1"
    assert first.page == "https://www.flickr.com/photos/12345@N01/1"
    jpeg = first.path(tmp_path / "aeroplane").read_bytes()
    assert first.phash == fingerprint(jpeg)
    assert said == ["aeroplane: 5 of 5 photos from flickr."]
    assert set(site.downloads) == {1, 2, 3, 4, 5}


def test_bad_photos_are_left_and_counted_by_reason(tmp_path):
    duplicate = encoded(draw(1).resize((200, 150)), quality=60)
    photos = [
        *photos_of("cat", 2, start=1),
        *photos_of("cat", 1, start=10, answer="html"),
        *photos_of("cat", 1, start=11, answer="huge"),
        *photos_of("cat", 1, start=12, answer="endless"),
        *photos_of("cat", 1, start=13, answer="http://10.0.0.1/cat.jpg"),
        *photos_of("cat", 1, start=14, answer="http://169.254.169.254/latest/"),
        *photos_of("cat", 1, start=15, image=png_claiming(50_000, 50_000)),
        *photos_of("cat", 1, start=16, image=encoded(draw(16))[:1500]),
        *photos_of("cat", 1, start=17, image=encoded(draw(17, (300, 90)))),
        *photos_of("cat", 1, start=18, image=duplicate),
        *photos_of("cat", 1, start=19, answer="404"),
        *photos_of("cat", 1, start=20, answer="cut"),
        *photos_of("cat", 1, start=21, licence=None),
        *photos_of("cat", 1, start=22, owner=""),
        Photo(23, ("cat",), "only the tag"),
        Photo(24, ("dog",), "only the text: cat"),
        *photos_of("cat", 1, start=3),
    ]
    with PhotoSite(photos) as site:
        kept, said = crawl(site, tmp_path)
    assert ids(kept) == [1, 2, 22, 3]
    assert kept[2].credit == "12345@N01"
    summary, warning = said
    for words in (
        "left 14:",
        "2 too many bytes",
        "2 private address",
        "1 too many pixels",
        "1 cannot be decoded",
        "1 too small",
        "1 duplicate",
        "1 HTTP 404",
        "1 connection failed",
        "1 text/html instead of an image",
        "1 without licence or credit",
        "2 without 'cat' in tags and description",
    ):
        assert words in summary
    assert warning == "Warning: flickr has 4 of 10 photos for 'cat' (query 'cat')."
    assert {23, 24, 21}.isdisjoint(site.asked)
    files = {path.name for path in (tmp_path / "cat").iterdir()}
    assert files == {"crawl.jsonl", *(photo.file.name for photo in kept)}


def test_any_takes_photos_by_tag_or_text(tmp_path):
    photos = [Photo(1, ("cat",), "only the tag"), Photo(2, ("dog",), "only the text: cat")]
    with PhotoSite(photos) as site:
        assert ids(crawl(site, tmp_path, match="any")[0]) == [1, 2]


def test_a_photo_is_kept_upright_without_metadata_and_not_too_large(tmp_path):
    picture = draw(5, (800, 400))
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x013B] = "A name that should not stay"
    image = encoded(picture, exif=exif, comment=b"secret", icc_profile=b"profile")
    with PhotoSite(photos_of("cat", 1, start=1, image=image)) as site:
        (photo,), _ = crawl(site, tmp_path, 1)
    with Image.open(photo.path(tmp_path / "cat")) as kept:
        assert kept.size == (250, 500)
        assert kept.mode == "RGB"
        assert dict(kept.getexif()) == {}
        assert not {"exif", "comment", "icc_profile", "xmp"} & kept.info.keys()


def test_classes_share_no_photo_and_no_duplicate(tmp_path):
    both = Photo(3, ("cat", "dog"), "a cat and a dog")
    again = Photo(30, ("dog",), "dog", image=encoded(draw(1), quality=70))
    with PhotoSite([*photos_of("cat", 2, 1), both, *photos_of("dog", 2, 10), again]) as site:
        assert ids(crawl(site, tmp_path, 10, "cat")[0]) == [1, 2, 3]
        dogs, said = crawl(site, tmp_path, 10, "dog")
    assert ids(dogs) == [10, 11]
    assert "1 seen for another class" in said[0]
    assert "1 duplicate" in said[0]
    assert site.asked[3] == 1


def test_a_second_call_fetches_only_what_is_new(tmp_path):
    photos = [
        *photos_of("cat", 3, start=1),
        *photos_of("cat", 1, start=8, answer="html"),
        *photos_of("cat", 1, start=9, answer="500"),
        *photos_of("cat", 2, start=4),
    ]
    with PhotoSite(photos) as site:
        first, _ = crawl(site, tmp_path, 4)
        asked = len(site.requests)
        assert crawl(site, tmp_path, 4) == (first, [])
        assert len(site.requests) == asked
        (tmp_path / "cat" / first[1].file).unlink()
        site.photos[4].answer = "photo"
        second, said = crawl(site, tmp_path, 5)
    assert ids(first) == [1, 2, 3, 4]
    assert ids(second) == [1, 3, 4, 9, 5]
    assert "1 text/html instead of an image" in said[0]
    assert site.downloads == dict.fromkeys((1, 2, 3, 4, 5, 9), 1)
    assert site.asked[8] == 1


def test_a_torn_journal_and_a_photo_without_a_line_are_taken_up(tmp_path):
    with PhotoSite(photos_of("cat", 4, start=1)) as site:
        first, _ = crawl(site, tmp_path, 3)
        journal = tmp_path / "cat/crawl.jsonl"
        journal.write_bytes(journal.read_bytes()[:-40])
        (tmp_path / "cat/.flickr-9.jpg.x.tmp").mkdir()
        second, _ = crawl(site, tmp_path, 4)
    assert second[:3] == first
    assert site.downloads == {1: 1, 2: 1, 3: 1, 4: 1}
    lines = journal.read_text().splitlines()
    with pytest.raises(ValueError):
        json.loads(lines[2])
    assert [json.loads(line)["key"] for line in lines[3:]] == ["flickr:3", "flickr:4"]
    assert not (tmp_path / "cat/.flickr-9.jpg.x.tmp").exists()


@pytest.mark.parametrize("line", ["", "3", "{}", '{"key": "a", "outcome": "lost"}', "\udcff\x00"])
def test_strange_journal_lines_are_passed_over(tmp_path, line):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat/crawl.jsonl").write_bytes(line.encode(errors="surrogateescape") + b"\n")
    with PhotoSite(photos_of("cat", 1, start=1)) as site:
        assert ids(crawl(site, tmp_path, 1)[0]) == [1]


def test_no_photo_at_all_is_a_warning(tmp_path):
    with PhotoSite([]) as site:
        photos, said = crawl(site, tmp_path, 5, "tvmonitor")
    assert photos == []
    assert said[-1] == "Warning: flickr has no photo for 'tvmonitor' (query 'monitor')."


def test_a_site_that_dies_keeps_what_is_here(tmp_path):
    photos = [*photos_of("cat", 2, start=1), *photos_of("cat", 9, start=10, answer="500")]
    with PhotoSite(photos) as site:
        with pytest.raises(
            RecallsegError, match=r"HTTP 500\. The 2 photos downloaded so far are kept"
        ):
            crawl(site, tmp_path, patience=3)
        assert sum(site.asked[number] for number in range(10, 19)) == 3 * QUICK.attempts
        for photo in site.photos:
            photo.answer = "photo"
        assert len(crawl(site, tmp_path, 11)[0]) == 11
    assert set(site.downloads.values()) == {1}


def test_a_site_that_wants_a_pause_is_left_at_once(tmp_path):
    with (
        PhotoSite(photos_of("cat", 5, start=1, answer="429")) as site,
        pytest.raises(RecallsegError, match="HTTP 429"),
    ):
        crawl(site, tmp_path)
    assert site.asked == {1: QUICK.attempts}


def test_a_second_page_that_fails_leaves_the_first(tmp_path):
    with PhotoSite(photos_of("cat", 8, start=1)) as site:
        site.before_photo = lambda turn: site.faults.extend(["html"] if turn == 1 else [])
        with pytest.raises(RecallsegError, match="text/html instead of JSON"):
            crawl(site, tmp_path, 8)
        assert ids(crawl(site, tmp_path, 8)[0]) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert set(site.downloads.values()) == {1}


def test_a_site_that_repeats_its_pages_comes_to_an_end(tmp_path):
    class Parrot:
        name = "flickr"

        def __init__(self, flickr):
            self.flickr = flickr

        def search(self, query, page):
            results = self.flickr.search(query, 1)
            return type(results)(results.candidates, more=True)

    with (
        PhotoSite(photos_of("cat", 2, start=1)) as site,
        PoliteClient(QUICK, allow_hosts=[site.host]) as client,
    ):
        flickr = FlickrSite(client, KEY, f"{site.base}/services/rest/")
        photos = WebSource(Parrot(flickr), client).collect("cat", 9, tmp_path / "cat", print)
    assert ids(photos) == [1, 2]


def test_ids_cannot_leave_the_folder(tmp_path):
    with PhotoSite(photos_of("cat", 1, start=1)) as site:
        fake = {
            "id": "../../evil",
            "owner": "x",
            "ownername": "Ada",
            "license": "4",
            "tags": "cat",
            "description": {"_content": "cat"},
            "url_z": f"{site.base}/photo/1.jpg",
        }
        photos = {"page": 1, "pages": 1, "perpage": 4, "total": 1, "photo": [fake]}
        site.faults.append("json " + json.dumps({"photos": photos, "stat": "ok"}))
        (photo,), _ = crawl(site, tmp_path, 1)
    assert photo.file.name == str(photo.file)
    assert photo.path(tmp_path / "cat").is_file()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "cannot be decoded"),
        (b"<html>", "cannot be decoded"),
        (encoded(draw(1), "BMP"), "cannot be decoded"),
        (encoded(draw(1), "PNG")[:-3000], "cannot be decoded"),
        (png_claiming(7000, 6000), "too many pixels"),
        (png_claiming(10_000, 10_000), "too many pixels"),
        (png_claiming(60_000, 60_000), "too many pixels"),
        (encoded(draw(1, (400, 95))), "too small"),
    ],
)
def test_bytes_that_are_no_photo(data, reason):
    with pytest.raises(BadPhoto) as caught:
        clean_jpeg(data, PhotoRules())
    assert caught.value.reason == reason


def test_a_scan_bomb_is_given_up_after_its_time():
    rules = PhotoRules(seconds=1, max_pixels=10_000_000)
    with pytest.raises(BadPhoto, match="takes too long to decode"):
        clean_jpeg(scan_bomb(), rules)
    assert clean_jpeg(encoded(draw(1)), PhotoRules(max_pixels=10_000_000)) == clean_jpeg(
        encoded(draw(1)), PhotoRules()
    )


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "CMYK"])
def test_every_kind_of_picture_becomes_rgb(mode):
    kind = "JPEG" if mode == "CMYK" else "PNG"
    data = clean_jpeg(encoded(draw(2).convert(mode), kind), PhotoRules(longer_side=None))
    with Image.open(io.BytesIO(data)) as photo:
        assert (photo.mode, photo.size, photo.format) == ("RGB", (160, 120), "JPEG")


def test_fingerprints_tell_copies_from_others():
    original = fingerprint(encoded(draw(1)))
    copy = fingerprint(encoded(draw(1).resize((320, 240)), quality=50))
    others = [fingerprint(encoded(draw(seed))) for seed in range(2, 30)]
    assert len(original) == 16
    assert is_near(copy, [original], 4)
    assert not is_near(original, others, 4)
    assert is_near("000000000000000f", ["0000000000000000"], 4)
    assert not is_near("000000000000001f", ["0000000000000000"], 4)
