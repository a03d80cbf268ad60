"""What people who run a server need: turns, limits, health, counts, a log, an end, a new step."""

import io
import json
import shutil
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from PIL import Image
from plain_run import PlainRun
from running import running, wait_until

from recallseg.errors import RecallsegError
from recallseg.predict.timeline import Timeline
from recallseg.serve.access import Access
from recallseg.serve.app import create_app
from recallseg.serve.clients import FullError, RateLimit, SharedMemory, client_name
from recallseg.serve.limits import ServerLimits
from recallseg.serve.line import FairLine
from recallseg.serve.observing import RequestLog
from recallseg.serve.runs import LiveRuns


def png(red=255, size=(40, 30)):
    buffer = io.BytesIO()
    Image.new("RGB", size, (red, 0, 0)).save(buffer, "PNG")
    return buffer.getvalue()


def ask(address, data, come_from=None, **headers):
    """Post a photo, from one of the many addresses that this machine has for itself."""
    transport = httpx.HTTPTransport(local_address=come_from)
    with httpx.Client(transport=transport, timeout=60, headers=headers) as client:
        return client.post(f"{address}/predict", files={"file": ("a.png", data)})


def test_clients_take_turns():
    line = FairLine(10)
    for client, item in [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)]:
        assert line.add(client, item) is None
    line.remove("c", 5)
    assert [line.take() for _ in range(len(line))] == [1, 4, 2, 6, 3]


def test_in_a_full_line_the_client_with_the_most_loses_its_newest():
    line = FairLine(4)
    for item in range(4):
        line.add("greedy", item)
    assert line.add("greedy", 4) == 4
    assert line.add("modest", 10) == 3
    assert line.add("modest", 11) == 2
    assert line.add("modest", 12) == 12
    assert line.add("other", 20) == 1
    assert [line.take() for _ in range(4)] == [0, 10, 20, 11]


def test_a_client_of_ipv6_is_a_network():
    assert client_name("2001:db8:1:2:3:4:5:6") == client_name("2001:db8:1:2::9")
    assert client_name("2001:db8:1:3::9") != client_name("2001:db8:1:2::9")
    assert client_name("::ffff:10.0.0.1") == client_name("10.0.0.1") == "10.0.0.1"


def test_memory_is_shared_among_clients():
    memory = SharedMemory(100, per_client=60)
    with memory.share("a") as first, memory.share("b") as second:
        first.grow(60)
        with pytest.raises(FullError):
            first.grow(1)
        second.grow(40)
        with pytest.raises(FullError):
            second.grow(1)
    assert memory.taken == 0


def test_a_client_may_send_so_many_photos_a_minute():
    rate = RateLimit(12)
    waits = [rate.wait("a") for _ in range(4)]
    assert waits[:2] == [0, 0]
    assert 4 < waits[2] <= 5
    assert rate.wait("b") == 0
    assert not any(RateLimit(None).wait("a") for _ in range(100))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "requests.jsonl"


@pytest.fixture(scope="module")
def address(log):
    token = Access(token="a-token-of-many-letters")
    limits = ServerLimits(per_minute=60)
    app = create_app({"model": PlainRun()}, (), limits, token, RequestLog.at(log))
    with running(app) as address:
        yield address


BEARER = {"Authorization": "Bearer a-token-of-many-letters"}


def test_health_needs_no_token_and_counts_need_it(address):
    assert httpx.get(f"{address}/livez", headers={"Host": "10.1.2.3"}).json() == {"status": "alive"}
    assert httpx.get(f"{address}/readyz").json() == {"status": "ready"}
    assert httpx.get(f"{address}/metrics").status_code == 401
    assert httpx.get(f"{address}/nowhere/else", headers=BEARER).status_code == 404
    assert ask(address, png(), **BEARER).status_code == 200
    text = httpx.get(f"{address}/metrics", headers=BEARER).text
    for row in (
        'recallseg_requests_total{code="200",method="POST",path="/predict"} 1.0',
        'recallseg_requests_total{code="401",method="GET",path="/metrics"} 1.0',
        'recallseg_requests_total{code="404",method="GET",path="other"} 1.0',
        "recallseg_batch_photos_count 1.0",
        'recallseg_last_step{run="model"} 1.0',
        "recallseg_waiting 0.0",
        "process_resident_memory_bytes",
    ):
        assert row in text


def test_every_request_leaves_a_line_without_secrets(address, log):
    response = httpx.get(f"{address}/model?token=a-token-of-many-letters")
    assert response.status_code == 200
    ask(address, png(), **BEARER)
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert "a-token-of-many-letters" not in log.read_text()
    (about,) = [entry for entry in entries if entry["id"] == response.headers["x-request-id"]]
    assert (about["path"], about["status"], about["client"]) == ("/model", 200, "127.0.0.1")
    predicted = [entry for entry in entries if entry["path"] == "/predict"][-1]
    assert (predicted["method"], predicted["status"], predicted["batch"]) == ("POST", 200, 1)
    assert predicted["bytes"] == len(png())
    assert 0 <= predicted["decode_seconds"] <= predicted["waited_seconds"] <= predicted["seconds"]


def test_a_log_in_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(RecallsegError, match="does not exist"):
        RequestLog.at(tmp_path / "nowhere" / "log.jsonl")


def test_a_client_that_sends_too_many_photos_is_told_when_to_come_back(address):
    answers = [ask(address, png(), "127.0.0.7", **BEARER) for _ in range(40)]
    codes = [answer.status_code for answer in answers]
    assert codes[:10] == [200] * 10
    assert 429 in codes
    refused = answers[codes.index(429)]
    assert int(refused.headers["retry-after"]) >= 1
    assert "60 photos a minute" in refused.json()["detail"]
    assert ask(address, png(), "127.0.0.8", **BEARER).status_code == 200


def test_a_client_with_one_photo_is_not_behind_one_with_many():
    run = PlainRun()
    run.go_on.clear()
    app = create_app({"model": run}, limits=ServerLimits(workers=1))
    with running(app) as address, ThreadPoolExecutor(40) as pool:
        service = address.server.service
        many = [pool.submit(ask, address, png(10), "127.0.0.2") for _ in range(30)]
        assert run.begun.wait(60)
        wait_until(lambda: len(service.line) and not service.ready.has_room(), "not full")
        modest = pool.submit(ask, address, png(200), "127.0.0.3")
        wait_until(lambda: len(service.line._by_client) == 2, "did not get in line")
        run.go_on.set()
        assert {answer.result().status_code for answer in (*many, modest)} == {200}
    colours = [colour[0] for batch in run.batches for colour in batch]
    assert len(colours) == 31
    # After at most 8 that are looked at, 16 that are ready, 2 that are being decoded, and one turn.
    assert colours.index(200) <= 27


def test_photos_of_other_sizes_are_looked_at_apart():
    run = PlainRun()
    run.go_on.clear()
    app = create_app({"model": run}, limits=ServerLimits(workers=1))
    with running(app) as address, ThreadPoolExecutor(9) as pool:
        sizes = [(40, 30)] * 4 + [(30, 40)] * 4
        first = pool.submit(ask, address, png(1, (9, 9)))
        assert run.begun.wait(60)
        answers = [pool.submit(ask, address, png(size[0], size)) for size in sizes]
        wait_until(lambda: len(address.server.service.ready) == 8, "not all are decoded")
        run.go_on.set()
        for size, answer in zip(sizes, answers, strict=True):
            found = answer.result().json()
            assert (found["photo_width"], found["photo_height"]) == size
        assert first.result().status_code == 200
    assert [len(batch) for batch in run.batches] == [1, 4, 4]


def test_a_server_that_stops_answers_what_waits_and_then_refuses():
    run = PlainRun()
    run.go_on.clear()
    app = create_app({"model": run}, limits=ServerLimits(workers=1, grace=3))
    with running(app) as address, ThreadPoolExecutor(2) as pool:
        drained = pool.submit(ask, address, png())
        assert run.begun.wait(60)
        address.server.should_exit = True
        service = address.server.service
        wait_until(lambda: service.is_stopping, "does not stop")
        assert not service.is_ready
        host, port = address.removeprefix("http://").split(":")

        def refused():
            try:
                socket.create_connection((host, int(port))).close()
            except OSError:
                return True
            return False

        wait_until(refused, "still takes connections")
        run.go_on.set()
        assert drained.result().status_code == 200


def test_what_still_waits_when_the_grace_is_over_is_told_so():
    run = PlainRun()
    run.go_on.clear()
    app = create_app({"model": run}, limits=ServerLimits(workers=1, grace=0.2))
    with running(app) as address, ThreadPoolExecutor(8) as pool:
        first = pool.submit(ask, address, png())
        assert run.begun.wait(60)
        waiting = pool.submit(ask, address, png())
        wait_until(lambda: len(address.server.service.ready) == 1, "does not wait")
        address.server.should_exit = True
        assert waiting.result().status_code == 503
        assert "about to stop" in waiting.result().json()["detail"]
        run.go_on.set()
        assert first.result().status_code == 200


def test_a_new_step_is_shown_without_a_restart_or_a_failed_request(learned, tmp_path, monkeypatch):
    monkeypatch.setattr("recallseg.serve.runs.INTERVAL", 0.05)
    model, aside = tmp_path / "model", tmp_path / "step-2"
    shutil.copytree(learned / "plain", model)
    (model / "step-2").rename(aside)
    runs = LiveRuns({"model": model}, Timeline)
    with running(create_app(runs)) as address:
        done, answers = threading.Event(), []

        def keep_asking():
            while not done.is_set():
                answers.append(ask(address, png()))

        asking = threading.Thread(target=keep_asking)
        asking.start()
        wait_until(lambda: answers, "no answer")
        aside.rename(model / "step-2")

        def shown():
            return [step["step"] for step in answers[-1].json()["steps"]] == [2]

        wait_until(shown, "the new step is not shown")
        decoder = model / "step-2" / "decoder.safetensors"
        whole = decoder.read_bytes()
        decoder.write_bytes(whole[:100])  # a change that cannot be opened changes nothing
        failed = 'recallseg_reloads_total{outcome="failed",run="model"}'
        wait_until(lambda: failed in httpx.get(f"{address}/metrics").text, "was not tried")
        assert ask(address, png()).json()["steps"][0]["step"] == 2
        done.set()
        asking.join()
        assert {answer.status_code for answer in answers} == {200}
        assert {answer.json()["steps"][0]["step"] for answer in answers} == {1, 2}
        assert httpx.get(f"{address}/model").json()["runs"][0]["steps"][-1]["step"] == 2
