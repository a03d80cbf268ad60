"""The polite client against a real server that behaves badly."""

import ipaddress
import shutil
import socket
import ssl
import subprocess
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from photo_site import Photo, PhotoSite

from recallseg.replay.web import fetching
from recallseg.replay.web.addresses import checked_addresses, is_public
from recallseg.replay.web.failures import FetchError
from recallseg.replay.web.fetching import FetchLimits, PoliteClient, retry_after

QUICK = FetchLimits(interval=0, attempts=2, backoff=0.01, max_bytes=200_000)
IMPATIENT = replace(QUICK, request_seconds=0.6)


def photo(answer: str) -> Photo:
    return Photo(1, ("cat",), "a cat", answer=answer)


def fetch(answer: str, limits: FetchLimits = QUICK) -> tuple[PhotoSite, FetchError]:
    with (
        PhotoSite([photo(answer)]) as site,
        PoliteClient(limits, allow_hosts=[site.host]) as client,
    ):
        with pytest.raises(FetchError) as caught:
            client.image(f"{site.base}/photo/1.jpg")
        return site, caught.value


def search(site: PhotoSite, limits: FetchLimits = QUICK):
    with PoliteClient(limits, allow_hosts=["127.0.0.1"]) as client:
        return client.json(f"{site.base}/v1/images/", {"q": "cat", "page": "1", "page_size": "20"})


def test_an_image_comes_whole():
    with (
        PhotoSite([photo("photo")]) as site,
        PoliteClient(QUICK, allow_hosts=[site.host]) as client,
    ):
        assert client.image(f"{site.base}/photo/1.jpg") == site.photos[0].image


def test_an_answer_that_is_packed_once_is_unpacked():
    with (
        PhotoSite([photo("packed")]) as site,
        PoliteClient(QUICK, allow_hosts=[site.host]) as client,
    ):
        assert client.image(f"{site.base}/photo/1.jpg") == site.photos[0].image


@pytest.mark.parametrize("answer", ["gzip_bomb", "nested_bomb"])
def test_unpacking_an_answer_takes_no_more_memory_than_an_answer_may_have(answer):
    with PhotoSite([photo(answer)]) as site, PoliteClient(QUICK, allow_hosts=[site.host]) as client:
        tracemalloc.start()
        with pytest.raises(FetchError):
            client.image(f"{site.base}/photo/1.jpg")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 30_000_000  # the server in this process makes 20 MB of zeros


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        (None, True),
        ("User-agent: *\nDisallow: /private/", True),
        ("User-agent: *\nDisallow: /photo/", False),
        ("User-agent: *\nDisallow: /photo/\nAllow: /photo/1.jpg", True),
        ("User-agent: *\nDisallow:\n\nUser-agent: recallseg\nDisallow: /", False),
        ("<html>no such page</html>", True),
    ],
)
def test_photos_are_asked_for_where_robots_txt_allows_it(robots, allowed):
    with (
        PhotoSite([photo("photo")], robots=robots) as site,
        PoliteClient(QUICK, allow_hosts=[site.host]) as client,
    ):
        for _ in range(2):
            if allowed:
                assert client.image(f"{site.base}/photo/1.jpg") == site.photos[0].image
            else:
                with pytest.raises(FetchError, match=r"not allowed by robots\.txt") as caught:
                    client.image(f"{site.base}/photo/1.jpg")
                assert caught.value.kind == "refused"
    assert site.asked[1] == (2 if allowed else 0)
    assert site.robots_asked == 1


def test_a_site_whose_robots_txt_fails_is_left_alone_until_it_works():
    with (
        PhotoSite([photo("photo")], robots="500") as site,
        PoliteClient(QUICK, allow_hosts=[site.host]) as client,
    ):
        with pytest.raises(FetchError, match="HTTP 500") as caught:
            client.image(f"{site.base}/photo/1.jpg")
        assert (caught.value.kind, site.asked[1]) == ("failed", 0)
        assert site.robots_asked == QUICK.attempts
        site.robots = None
        assert client.image(f"{site.base}/photo/1.jpg") == site.photos[0].image


def test_the_pause_that_robots_txt_asks_for_is_made(monkeypatch):
    waits = []
    monkeypatch.setattr(fetching.time, "sleep", waits.append)
    robots = "User-agent: *\nCrawl-delay: 90"
    with PhotoSite([photo("photo")], robots=robots) as site:
        with PoliteClient(QUICK, allow_hosts=[site.host]) as client:
            for _ in range(3):
                client.image(f"{site.base}/photo/1.jpg")
        assert [wait // 85 for wait in waits if wait > 1] == [1, 2]
        site.robots = "User-agent: *\nCrawl-delay: 9000"
        with PoliteClient(QUICK, allow_hosts=[site.host]) as client:
            with pytest.raises(FetchError, match="pause of 9000 s") as caught:
                client.image(f"{site.base}/photo/1.jpg")
            assert caught.value.kind == "busy"


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"X-Robots-Tag": "noindex"}, True),
        ({"X-Robots-Tag": "noindex, NoImageAI"}, False),
        ({"X-Robots-Tag": "noai"}, False),
        ({"X-Robots-Tag": "recallseg: noai"}, False),
        ({"X-Robots-Tag": "otherbot: noai"}, True),
        ({"TDM-Reservation": "1"}, False),
        ({"TDM-Reservation": "0"}, True),
    ],
)
def test_photos_that_are_kept_from_learners_are_left(headers, allowed):
    with (
        PhotoSite([photo("photo")], photo_headers=headers) as site,
        PoliteClient(QUICK, allow_hosts=[site.host]) as client,
    ):
        if allowed:
            assert client.image(f"{site.base}/photo/1.jpg") == site.photos[0].image
        else:
            with pytest.raises(FetchError, match="kept from learners"):
                client.image(f"{site.base}/photo/1.jpg")


def test_it_says_who_it_is(monkeypatch):
    monkeypatch.setenv("RECALLSEG_CONTACT", "ada@example.org")
    with PhotoSite([photo("photo")]) as site:
        search(site)
    (agent,) = site.agents
    assert agent.startswith("recallseg/")
    assert "https://" in agent
    assert "ada@example.org" in agent


def test_requests_to_a_host_keep_their_distance(monkeypatch):
    waits = []
    monkeypatch.setattr(fetching.time, "sleep", waits.append)
    with PhotoSite([photo("photo")]) as site:
        limits = FetchLimits(interval=1000)
        with PoliteClient(limits, allow_hosts=[site.host]) as client:
            for _ in range(4):
                client.image(f"{site.base}/photo/1.jpg")
    turns = [wait // 900 for wait in waits if wait > 0]
    assert turns == [1, 2, 3, 4]  # robots.txt came first


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("html", "text/html instead of an image"),
        ("huge", "too many bytes"),
        ("endless", "too many bytes"),
        ("404", "HTTP 404"),
        ("http://10.0.0.1/x.jpg", "private address"),
        ("http://169.254.169.254/latest/meta-data/", "private address"),
        ("http://[::ffff:127.0.0.1]/x.jpg", "private address"),
        ("http://2130706433/x.jpg", "private address"),
        ("http://user:secret@127.0.0.1/x.jpg", "address with a password"),
        ("loop", "too many redirects"),
        ("gzip_bomb", "too many bytes"),
        ("nested_bomb", "packed as gzip, gzip"),
        ("unpackable", "cannot be unpacked"),
        ("http://1.1.1.1:99999/x.jpg", "malformed address"),
        ("https:///x.jpg", "address is not http or https"),
        ("ftp://1.1.1.1/x.jpg", "address is not http or https"),
    ],
)
def test_what_is_refused_is_asked_once(answer, reason):
    site, error = fetch(answer)
    assert (error.reason, error.kind) == (reason, "refused")
    assert site.asked[1] == (QUICK.redirects + 1 if reason == "too many redirects" else 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("500", "HTTP 500"), ("cut", "connection failed"), ("drip", "no answer in time")],
)
def test_what_fails_is_tried_again(answer, reason):
    site, error = fetch(answer, IMPATIENT if answer == "drip" else QUICK)
    assert (error.reason, error.kind) == (reason, "failed")
    assert site.asked[1] == QUICK.attempts


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "not http"),
        ("", "not http"),
        ("http://[zz]/", "malformed"),
        ("http://localhost/x.jpg", "private address"),
    ],
)
def test_strange_addresses_are_refused(url, reason):
    with PoliteClient(QUICK) as client, pytest.raises(FetchError, match=reason):
        client.image(url)


def test_a_host_that_nobody_answers_at_fails():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        client = PoliteClient(QUICK, allow_hosts=[address])
        with client, pytest.raises(FetchError, match="connection failed"):
            client.image(f"http://{address}/x.jpg")


def test_retry_after_is_honoured():
    with (
        PhotoSite([photo("once 429")]) as site,
        PoliteClient(QUICK, allow_hosts=[site.host]) as client,
    ):
        assert client.image(f"{site.base}/photo/1.jpg") == site.photos[0].image
    (first, _), (second, _) = site.requests
    assert 1.0 <= second - first < 2.0


def test_a_long_pause_is_not_waited_for():
    with (
        PhotoSite([], faults=["429 3600", "429 3600"]) as site,
        pytest.raises(FetchError, match="HTTP 429, asks for a pause of 3600 s") as caught,
    ):
        search(site)
    assert caught.value.kind == "busy"
    assert len(site.requests) == 1


def test_a_search_survives_errors_and_a_slow_answer():
    with PhotoSite([photo("photo")], faults=["500", "503 0", "slow"]) as site:
        limits = FetchLimits(interval=0, idle_seconds=0.3, attempts=4, backoff=0.01)
        assert search(site, limits)["result_count"] == 1
    assert len(site.requests) == 4


def test_the_time_for_all_retries_is_limited():
    with PhotoSite([], faults=["429 5"]) as site, pytest.raises(FetchError, match="HTTP 429"):
        search(site, FetchLimits(interval=0, total_seconds=2))
    assert len(site.requests) == 1


@pytest.mark.parametrize(
    ("fault", "reason"), [("html", "text/html instead of JSON"), ("json {oh", "not JSON")]
)
def test_what_is_not_json_is_told(fault, reason):
    with PhotoSite([], faults=[fault]) as site, pytest.raises(FetchError, match=reason):
        search(site)


def test_retry_after_is_a_number_or_a_date():
    assert retry_after("7") == 7.0
    assert retry_after("") is None
    assert retry_after("soon") is None
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 < retry_after(soon) <= 30
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("::1", False),
        ("fe80::1", False),
        ("fc00::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::10.0.0.1", False),
        ("2002:a00:1::1", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("192.0.0.192", False),
        ("168.63.129.16", False),
        ("::169.254.169.254", False),
        ("::93.184.216.34", False),
        ("::ffff:0:10.0.0.1", False),
        ("::ffff:192.0.0.192", False),
        ("64:ff9b:1::93.184.216.34", False),
        ("64:ff9b::168.63.129.16", False),
        ("64:ff9b::93.184.216.34", True),
        ("2002:a83f:8110::1", False),
        ("2002:5db8:d822::1", True),
        ("2606:2800::5efe:10.0.0.1", False),
        ("2606:2800::200:5efe:169.254.169.254", False),
        ("fec0::1", False),
        ("3fff::1", False),
        ("ff0e::1", False),
    ],
)
def test_public_addresses(address, public):
    assert is_public(ipaddress.ip_address(address)) is public


def names_lead_to(monkeypatch, *addresses: str) -> None:
    def resolve(host, port, *_, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch):
    names_lead_to(monkeypatch, "93.184.216.34", "10.0.0.1")
    with pytest.raises(FetchError, match="private address"):
        checked_addresses(httpx.URL("http://photos.example/"))
    names_lead_to(monkeypatch, "2606:2800:220::1", "93.184.216.34")
    assert checked_addresses(httpx.URL("https://photos.example/")) == [
        "93.184.216.34",
        "2606:2800:220::1",
    ]


def test_a_private_host_is_allowed_by_name_or_by_name_and_port():
    url = httpx.URL("http://127.0.0.1:8080/x")
    assert checked_addresses(url, ["127.0.0.1"]) == ["127.0.0.1"]
    assert checked_addresses(url, ["127.0.0.1:8080"]) == ["127.0.0.1"]
    with pytest.raises(FetchError, match="private address"):
        checked_addresses(url, ["127.0.0.1:80", "localhost"])


def test_the_connection_goes_to_the_checked_address(monkeypatch):
    """A name may lead elsewhere at the second look-up (DNS rebinding): there is one per request."""
    asked = []
    real = socket.getaddrinfo

    def resolve(host, *rest, **options):
        asked.append(host)
        if host == "photos.example":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]
        return real(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with PhotoSite([photo("photo")]) as site:
        port = site.server.server_port
        with PoliteClient(QUICK, allow_hosts=["photos.example"]) as client:
            image = client.image(f"http://photos.example:{port}/photo/1.jpg")
    assert image == site.photos[0].image
    assert asked.count("photos.example") == 2  # for robots.txt, and for the photo


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
def test_tls_is_about_the_name_although_the_connection_goes_to_an_address(monkeypatch, tmp_path):
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=photos.example", "-addext", "subjectAltName=DNS:photos.example"]
    files = ["-keyout", key, "-out", cert]
    subprocess.run(
        ["openssl", "req", "-x509", *curve, *names, *files], check=True, capture_output=True
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(cert, key)
    asked = []
    server.sni_callback = lambda _socket, name, _context: asked.append(name)
    monkeypatch.setattr("certifi.where", lambda: cert)
    names_lead_to(monkeypatch, "127.0.0.1")
    with (
        PhotoSite([photo("photo")], tls=server) as site,
        PoliteClient(QUICK, allow_hosts=["photos.example", "other.example"]) as client,
    ):
        port = site.server.server_port
        image = client.image(f"https://photos.example:{port}/photo/1.jpg")
        with pytest.raises(FetchError, match="connection failed"):
            client.image(f"https://other.example:{port}/photo/1.jpg")
    assert image == site.photos[0].image
    assert asked == ["photos.example"] * 2 + ["other.example"] * QUICK.attempts
