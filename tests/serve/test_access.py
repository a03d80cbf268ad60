"""Which requests a server answers: those for its own names, with its token."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from recallseg.errors import RecallsegError
from recallseg.serve.access import Access, Gate, is_loopback

TOKEN = "a-token-of-many-letters"


def client(access, arrived_at="10.1.2.3"):
    async def gated(scope, receive, send):
        await Gate(PlainTextResponse("welcome"), access)(
            scope | {"server": (arrived_at, 8000)}, receive, send
        )

    return TestClient(gated)


def code(access, host, path="/", method="GET", **headers):
    return client(access).request(method, path, headers={"Host": host, **headers}).status_code


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "::1", "[::1]", "::ffff:127.0.0.1"]
)
def test_every_form_of_loopback_checks_the_host_and_needs_no_token(host):
    assert is_loopback(host)
    access = Access.to(host, [], None)
    assert access.token is None
    for name in ("localhost", "localhost:8000", "127.0.0.1:1", "127.9.9.9", "[::1]:8000", "[::1]"):
        assert code(access, name) == 200
    for name in (
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "10.1.2.3",
        "",
        "a b",
    ):
        assert code(access, name) == 400


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "box.local", "127.1"])
def test_beyond_loopback_a_token_is_made(host):
    tokens = {Access.to(host, [], None).token for _ in range(3)}
    assert len(tokens) == 3
    assert all(len(token) >= 32 for token in tokens)


def test_other_hosts_answer_to_the_names_that_were_given():
    access = Access.to("192.168.1.5", ["Box.local"], TOKEN)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    for name in ("192.168.1.5:8000", "box.local", "BOX.LOCAL:80", "localhost"):
        assert code(access, name, **bearer) == 200
    for name in ("192.168.1.6", "10.1.2.3", "evil.example"):
        assert code(access, name, **bearer) == 400


def test_a_server_on_all_addresses_answers_to_the_one_a_request_arrived_at():
    access = Access.to("0.0.0.0", [], TOKEN)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert code(access, "10.1.2.3:8000", **bearer) == 200
    assert code(access, "10.1.2.4:8000", **bearer) == 400
    assert code(access, "0.0.0.0:8000", **bearer) == 400


def test_the_token_comes_in_a_header_or_for_pages_in_the_address():
    access = Access.to("0.0.0.0", [], TOKEN)
    assert code(access, "localhost") == 401
    assert code(access, "localhost", Authorization=f"Bearer {TOKEN}x") == 401
    assert code(access, "localhost", Authorization=f"Basic {TOKEN}") == 401
    assert code(access, "localhost", "/?token=") == 401
    assert code(access, "localhost", f"/?token={TOKEN}") == 200
    assert code(access, "localhost", Authorization=f"bearer {TOKEN}") == 200
    assert code(access, "localhost", f"/?token={TOKEN}", "POST") == 401
    assert code(access, "localhost", method="POST", Authorization=f"Bearer {TOKEN}") == 200
    refused = client(access).get("/", headers={"Host": "localhost"})
    assert "Authorization: Bearer TOKEN" in refused.json()["detail"]
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("token", ["", "short", "with spaces in the middle", "sixteen&letters=1"])
def test_a_token_that_is_easily_guessed_or_cannot_be_in_an_address_is_refused(token):
    with pytest.raises(RecallsegError, match="at least 16 characters"):
        Access.to("127.0.0.1", [], token)


def test_a_server_with_a_token_gives_its_pages_links_that_work():
    from recallseg.serve.app import create_app

    app = create_app({}, access=Access(token=TOKEN))
    with TestClient(app, base_url="http://localhost") as browser:
        for path in ("/", "/docs", "/model", "/openapi.json"):
            refused = browser.get(path)
            assert refused.status_code == 401
            assert refused.headers["x-content-type-options"] == "nosniff"
            assert browser.get(f"{path}?token={TOKEN}").status_code == 200
        assert f'href="openapi.json?token={TOKEN}"' in browser.get(f"/docs?token={TOKEN}").text
        assert (
            browser.get("/model", headers={"Authorization": f"Bearer {TOKEN}"}).json()["runs"] == []
        )
        assert browser.get("/", headers={"Host": "evil.example"}).status_code == 400
