"""Clients that are slow on purpose, and photos that are expensive to decode."""

import contextlib
import io
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
from bombs import scan_bomb
from PIL import Image
from plain_run import PlainRun
from running import running, wait_until

from recallseg.serve import connections
from recallseg.serve.app import create_app
from recallseg.serve.limits import ServerLimits

HEAD = (
    b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
    b"Content-Type: multipart/form-data; boundary=x\r\n\r\n"
)


def png(colour="red", size=(40, 30)):
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


@contextlib.contextmanager
def lines(address, count, start):
    """Connections that send the start of a request and then nothing."""
    host, port = address.removeprefix("http://").split(":")
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(count):
            line = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
            line.sendall(start)
            opened.append(line)
        yield opened


def said(line):
    """All that comes until the other side closes the connection."""
    text = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := line.recv(65536):
            text += chunk
    return text


def ask(address, data, client=httpx):
    return client.post(f"{address}/predict", files={"file": ("a.png", data)}, timeout=60)


def metric(address, name):
    text = httpx.get(f"{address}/metrics").text
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith(name)]
    return sum(float(value) for _, value in rows)


def test_slow_heads_are_timed_out():
    app = create_app({"model": PlainRun()}, limits=ServerLimits(header_seconds=0.5))
    start = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n"
    with running(app) as address:
        with lines(address, 20, start) as slow, lines(address, 20, b"") as silent:
            assert httpx.get(f"{address}/livez").status_code == 200
            for line in slow:
                assert b" 408 " in said(line)
            for line in silent:
                assert said(line).startswith((b"", b"HTTP/1.1 408"))
        assert metric(address, "recallseg_connections ") <= 2
        assert metric(address, 'recallseg_connections_closed_total{reason="slow head"}') == 40


def test_a_head_that_comes_a_byte_at_a_time_has_no_more_time():
    app = create_app({"model": PlainRun()}, limits=ServerLimits(header_seconds=0.5))
    with running(app) as address, lines(address, 1, b"GET / HTTP/1.1\r\nX-A: ") as (line,):
        line.settimeout(0.05)
        sent, answer = 0, b""
        while not answer:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(b"a")
            sent += 1
            assert sent < 2000
            with contextlib.suppress(TimeoutError):
                answer = line.recv(1000) or b"closed"
        assert b"408" in answer


def test_slow_bodies_take_no_places_and_are_timed_out():
    limits = ServerLimits(waiting=1, body_seconds=2)
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    with running(create_app({"model": PlainRun()}, limits=limits)) as address:
        with lines(address, 60, HEAD % 1000 + body) as slow:
            for _ in range(5):
                assert ask(address, png()).status_code == 200
            for line in slow:
                text = said(line)
                assert b" 408 " in text
                assert b"took longer than 2 seconds" in text
        assert metric(address, "recallseg_body_bytes ") == 0


def test_bad_requests_write_nothing_where_the_server_writes(capfd, caplog):
    with running(create_app({"model": PlainRun()})) as address:
        with lines(address, 5, HEAD % 1000 + b"aaaa") as bad:
            for line in bad:
                assert b" 400 " in said(line)
        with lines(address, 1, b"nonsense\r\n\r\n") as (line,):
            assert b" 400 " in said(line)
    assert capfd.readouterr().err == ""
    assert not caplog.records


def test_a_client_with_too_many_connections_loses_the_slowest():
    limits = ServerLimits(connections_per_client=10, header_seconds=600)
    with running(create_app({"model": PlainRun()}, limits=limits)) as address:
        with lines(address, 30, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n") as slow:
            assert ask(address, png()).status_code == 200
            for line in slow[:20]:
                assert b" 503 " in said(line)
            slow[-1].sendall(b"Connection: close\r\n\r\n")
            assert b'"alive"' in said(slow[-1])
        wait_until(lambda: metric(address, "recallseg_connections ") <= 1, "left behind")


def test_connections_that_are_being_served_are_not_crowded_out():
    run = PlainRun()
    run.go_on.clear()
    limits = ServerLimits(connections_per_client=4, header_seconds=600, workers=4)
    with (
        running(create_app({"model": run}, limits=limits)) as address,
        ThreadPoolExecutor(4) as pool,
    ):
        answers = [pool.submit(ask, address, png()) for _ in range(4)]
        wait_until(lambda: address.server.service.ready.busy == 4, "not all are being served")
        with lines(address, 3, b"GET /livez HTTP/1.1\r\n") as more:
            for line in more:
                assert b" 503 " in said(line)
        run.go_on.set()
        assert [answer.result().status_code for answer in answers] == [200] * 4


def test_bodies_are_bounded_together():
    limits = ServerLimits(upload_bytes=50_000, body_bytes=100_000, body_seconds=600)
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    noise = np.random.default_rng(0).integers(0, 256, (60, 60, 3)).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, "PNG")
    with running(create_app({"model": PlainRun()}, limits=limits)) as address:
        with lines(address, 1, HEAD % 49_000 + body + bytes(45_000)):
            wait_until(lambda: metric(address, "recallseg_body_bytes ") > 45_000, "not counted")
            refused = ask(address, buffer.getvalue())
            assert refused.status_code == 503
            assert "Too many uploads are arriving" in refused.json()["detail"]
        wait_until(lambda: metric(address, "recallseg_body_bytes ") == 0, "not given back")
        assert ask(address, buffer.getvalue()).status_code == 200


def test_an_answer_that_nobody_takes_is_dropped(monkeypatch):
    monkeypatch.setattr(connections, "SENDING", 1.0)
    form = (
        b'--x\r\nContent-Disposition: form-data; name="step"\r\n\r\nall\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
        + png(size=(1000, 1000))
        + b"\r\n--x--\r\n"
    )
    with (
        running(create_app({"model": PlainRun(steps=8, noise=True)})) as address,
        lines(address, 1, HEAD % len(form) + form),
    ):
        closed = 'recallseg_connections_closed_total{reason="slow'
        wait_until(lambda: metric(address, closed) == 1, "the answer is still kept for nobody")


def test_a_scan_bomb_is_refused_while_others_are_served():
    limits = ServerLimits(decode_seconds=2, pixels=10_000_000, workers=1)
    with running(create_app({"model": PlainRun()}, limits=limits)) as address:
        assert ask(address, png()).status_code == 200
        ended = threading.Event()
        answers = []

        def explode():
            answers.append(ask(address, scan_bomb()))
            ended.set()

        threading.Thread(target=explode).start()
        served = 0
        while not ended.is_set():
            assert ask(address, png()).status_code == 200
            served += 1
        assert served > 0
        assert answers[0].status_code == 400
        assert "was not decoded within 2 seconds" in answers[0].json()["detail"]
        assert metric(address, "recallseg_decoders_killed ") == 1
        assert ask(address, png()).status_code == 200


@pytest.mark.parametrize(
    "words", [b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\r\n\r\n"]
)
def test_other_requests_are_answered_as_before(words):
    with running(create_app({"model": PlainRun()})) as address, lines(address, 1, words) as (line,):
        assert line.recv(65536).startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
