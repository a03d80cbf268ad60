import base64
import io
import resource
import socket
import struct
import tempfile
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
from drawn import draw_pair
from PIL import Image
from running import running, wait_until
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.predict.predictor import Predictor
from recallseg.predict.step_models import StepModels
from recallseg.predict.timeline import Timeline
from recallseg.serve.app import create_app
from recallseg.serve.limits import ServerLimits
from recallseg.serve.samples import find_samples


@pytest.fixture(scope="module")
def runs(learned):
    return {
        "model": Timeline(learned / "plain", longer_side=256),
        "compare": Timeline(learned / "other", longer_side=256),
    }


@pytest.fixture(scope="module")
def address(runs):
    with running(create_app(runs, find_samples(None))) as address:
        yield address


def encoded(image, kind="PNG"):
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def photo():
    return encoded(draw_pair([1, 2, 3], size=(60, 40))[0])


@pytest.fixture(scope="module", autouse=True)
def _one_client():
    """A client for all tests: making one costs more than a request."""
    global CLIENT
    with httpx.Client(timeout=30) as CLIENT:
        yield


def ask(address, data, name="photo.png", **fields):
    return CLIENT.post(f"{address}/predict", files={"file": (name, data)}, data=fields)


def mask_of(step):
    head, _, body = step["mask"].partition(",")
    assert head == "data:image/png;base64"
    return np.array(Image.open(io.BytesIO(base64.b64decode(body))))


def memory_mb():
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


@pytest.mark.parametrize(("key", "folder"), [("model", "plain"), ("compare", "other")])
def test_the_answer_is_what_the_model_predicts(learned, address, photo, key, folder):
    answer = ask(address, photo, step="all", run=key).json()
    assert [step["step"] for step in answer["steps"]] == [0, 1, 2]
    assert (answer["width"], answer["height"], answer["run"]) == (60, 40, key)
    for step in answer["steps"]:
        expected = Predictor.open(learned / folder, step["step"]).predict(
            Image.open(io.BytesIO(photo))
        )
        np.testing.assert_array_equal(mask_of(step), expected.mask)
        for said, score in zip(step["classes"], expected.scores, strict=True):
            assert (said["name"], said["channel"]) == (score.name, score.channel)
            assert said["share"] == pytest.approx(score.share, abs=1e-5)
            assert said["confidence"] == pytest.approx(score.confidence, abs=1e-3)


def test_a_program_may_ask_for_one_step_or_the_last(address, photo):
    assert [step["step"] for step in ask(address, photo).json()["steps"]] == [2]
    answer = ask(address, photo, step="1").json()
    assert [step["step"] for step in answer["steps"]] == [1]
    assert answer["class_names"][-1] == "train"


def noise(size):
    """Coarse noise, in which a model with random weights sees a bit of everything."""
    colours = np.random.default_rng(5).integers(0, 256, (size[1] // 40, size[0] // 40, 3))
    return Image.fromarray(colours.astype(np.uint8)).resize(size, Image.Resampling.BICUBIC)


@pytest.fixture(scope="module")
def unshrunk(learned):
    """A server that looks at photos as large as they come."""
    with running(create_app({"model": Timeline(learned / "plain")})) as address:
        yield address


@pytest.mark.parametrize(
    ("size", "longer_side"),
    [((800, 480), 256), ((1120, 960), None)],
    ids=["shrunk", "in tiles"],
)
def test_served_masks_are_those_of_the_predict_command(
    learned, address, unshrunk, tmp_path, size, longer_side
):
    noise(size).save(tmp_path / "photo.png")
    data = (tmp_path / "photo.png").read_bytes()
    answer = ask(address if longer_side else unshrunk, data, step="all").json()
    assert (answer["photo_width"], answer["photo_height"]) == size
    assert (answer["width"], answer["height"]) == size
    for step in answer["steps"]:
        out = tmp_path / str(step["step"])
        words = ["predict", learned / "plain", tmp_path / "photo.png", "--step", step["step"]]
        words += ["-o", out, *(["--longer-side", longer_side] if longer_side else [])]
        told = CliRunner().invoke(app, list(map(str, words)))
        assert told.exit_code == 0, told.output
        expected = np.array(Image.open(out / "photo.png"))
        assert len(np.unique(expected)) > 2
        np.testing.assert_array_equal(mask_of(step), expected)


def test_masks_may_be_asked_for_smaller(address):
    data = encoded(noise((800, 400)))
    full, small = ask(address, data).json(), ask(address, data, mask_side="200").json()
    assert (small["photo_width"], small["photo_height"]) == (800, 400)
    assert (small["width"], small["height"]) == (200, 100)
    assert small["steps"][0]["classes"] == full["steps"][0]["classes"]
    every_fourth = mask_of(full["steps"][0])[2::4, 2::4]
    np.testing.assert_array_equal(mask_of(small["steps"][0]), every_fourth)
    assert ask(address, data, mask_side="9" * 400).json() == full


def test_an_answer_is_bounded_by_the_pixels_of_its_masks(runs):
    data = encoded(Image.new("RGB", (100, 60)))
    with running(create_app(runs, limits=ServerLimits(mask_pixels=6000))) as address:
        assert httpx.get(f"{address}/model").json()["mask_pixels"] == 6000
        refused = ask(address, data, step="all")
        assert refused.status_code == 413
        assert "3 masks of 100×60 px would be sent" in refused.json()["detail"]
        assert "at most 0.006 million pixels" in refused.json()["detail"]
        assert len(ask(address, data, step="all", mask_side="50").json()["steps"]) == 3
        assert mask_of(ask(address, data).json()["steps"][0]).shape == (60, 100)


def png_of(width, height):
    """A PNG whose header promises more than its few bytes hold."""

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("data", "name", "fields", "code", "sentence"),
    [
        (b"hello, world", "cat.jpg", {}, 400, "not an image"),
        (b"", "cat.jpg", {}, 400, "not an image"),
        (encoded(Image.effect_noise((90, 90), 90), "JPEG")[:900], "cat.jpg", {}, 400, "truncated"),
        (png_of(40_000, 40_000), "bomb.png", {}, 413, "pixels"),
        (png_of(10_000, 9_000), "bomb.png", {}, 413, "at most 40 million pixels"),
        (png_of(4_000, 4_000), "hollow.png", {}, 400, "cannot be read"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "a.eps", {}, 400, "not an image"),
        (encoded(Image.new("RGB", (9, 9))), "../../etc/passwd", {}, 400, "holds a path"),
        (encoded(Image.new("RGB", (9, 9))), "a.png", {"step": "9"}, 422, "no step '9'"),
        (encoded(Image.new("RGB", (9, 9))), "a.png", {"step": "-1"}, 422, "no step '-1'"),
        (encoded(Image.new("RGB", (9, 9))), "a.png", {"run": "<b>"}, 422, "no run '<b>'"),
        (encoded(Image.new("RGB", (9, 9))), "a.png", {"run": "x" * 5000}, 400, "multipart"),
        (encoded(Image.new("RGB", (9, 9))), "a.png", {"mask_side": "0"}, 422, "mask_side is '0'"),
        (encoded(Image.new("RGB", (9, 9))), "a.png", {"mask_side": "²"}, 422, "mask_side is '²'"),
    ],
)  # fmt: skip
def test_what_is_no_photo_is_refused_with_a_sentence(
    address, photo, data, name, fields, code, sentence
):
    response = ask(address, data, name, **fields)
    assert response.status_code == code
    assert sentence in response.json()["detail"]
    assert response.headers["content-type"] == "application/json"
    assert ask(address, photo).status_code == 200


@pytest.mark.parametrize(
    ("content", "kind", "code"),
    [
        (b"{}", "application/json", 415),
        (b"nonsense", "multipart/form-data; boundary=x", 400),
        (b"nonsense", "multipart/form-data", 400),
        (b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
         "multipart/form-data; boundary=x", 422),
    ],
)  # fmt: skip
def test_a_request_that_is_no_upload_is_refused(address, content, kind, code):
    response = httpx.post(f"{address}/predict", content=content, headers={"Content-Type": kind})
    assert response.status_code == code
    assert isinstance(response.json()["detail"], str)


def endless(sent, start=b""):
    """Ten gigabytes of an upload, a piece at a time."""
    yield start
    for _ in range(10_000):
        sent.append(1_000_000)
        yield bytes(1_000_000)


@pytest.mark.parametrize("declared", [True, False])
def test_a_huge_upload_is_refused_while_it_arrives(address, photo, declared):
    sent = []
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    if declared:
        headers["Content-Length"] = str(10_000 * 1_000_000 + len(head))
    before = memory_mb()
    response = httpx.post(f"{address}/predict", content=endless(sent, head), headers=headers)
    assert response.status_code == 413
    assert "larger than 20 MB" in response.json()["detail"]
    assert sum(sent) < 100_000_000
    assert memory_mb() - before < 100
    assert ask(address, photo).status_code == 200


def test_an_upload_never_touches_the_disk(address, monkeypatch):
    monkeypatch.setattr(
        tempfile.SpooledTemporaryFile, "rollover", lambda _: pytest.fail("written to disk")
    )
    noise = np.random.default_rng(0).integers(0, 256, (1200, 1200, 3)).astype(np.uint8)
    data = encoded(Image.fromarray(noise))
    assert len(data) > 4_000_000
    assert ask(address, data).status_code == 200


def test_many_clients_at_once_get_a_result_or_are_told_to_come_back(runs, photo):
    app = create_app(runs, limits=ServerLimits(waiting=4))
    with running(app) as address:
        reference = ask(address, photo).json()

        def client(_):
            response = ask(address, photo)
            return response.status_code, response

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(client, range(48)))
            before = memory_mb()
            answers = list(pool.map(client, range(200)))
        grown = memory_mb() - before
        assert {code for code, _ in answers} <= {200, 503}
        assert all(each.json() == reference for code, each in answers if code == 200)
        refused = [each for code, each in answers if code == 503]
        assert refused
        assert all(each.headers["retry-after"] == "2" for each in refused)
        assert "4 requests are waiting" in refused[0].json()["detail"]
        assert grown < 50
        assert ask(address, photo).status_code == 200


def test_a_client_that_hangs_up_leaves_nothing_behind(runs, photo):
    app = create_app(runs, limits=ServerLimits(waiting=1))
    with running(app) as address:
        host, port = address.removeprefix("http://").split(":")
        for _ in range(3):
            with socket.create_connection((host, int(port))) as line:
                line.sendall(
                    b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
                    b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
                )

        def served():
            status = ask(address, photo).status_code
            assert status in (200, 503)
            return status == 200

        wait_until(served, "the places of clients that hung up were never given back")


def test_what_takes_too_long_is_given_up(runs, photo, monkeypatch):
    release = threading.Event()

    def slow(*_):
        release.wait(60)
        return iter(())

    app = create_app(runs, limits=ServerLimits(seconds=0.5))
    with running(app) as address:
        with monkeypatch.context() as patch:
            patch.setattr(StepModels, "look", slow)
            response = ask(address, photo)
            assert not release.is_set()
            release.set()
        assert response.status_code == 503
        assert "longer than 0.5 seconds" in response.json()["detail"]


def test_pages_are_whole_and_keep_to_themselves(address):
    for path in ("/", "/docs"):
        page = httpx.get(address + path)
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "http" not in policy
        assert "unsafe" not in policy
        assert "src=" not in page.text
        assert '<link rel="icon" href="data:,">' in page.text
        assert "@import" not in page.text
        assert page.headers["x-content-type-options"] == "nosniff"
    assert "/predict" in httpx.get(f"{address}/docs").text
    schema = httpx.get(f"{address}/openapi.json").json()
    health = {"/livez", "/readyz", "/metrics"}
    assert set(schema["paths"]) == {"/predict", "/model", "/samples/{number}"} | health
    answered = schema["paths"]["/predict"]["post"]["responses"]
    assert answered["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/Answer")
    assert {"400", "408", "413", "415", "422", "429", "503"} <= set(answered)


def test_the_server_tells_its_runs_and_samples(address):
    about = httpx.get(f"{address}/model").json()
    assert [run["key"] for run in about["runs"]] == ["model", "compare"]
    assert about["runs"][0]["steps"][2] == {"step": 2, "new": ["tvmonitor"], "refined": []}
    for sample in about["samples"]:
        image = Image.open(io.BytesIO(httpx.get(f"{address}/{sample['url']}").content))
        assert image.size == (480, 360)
    assert httpx.get(f"{address}/samples/7").status_code == 404
    assert httpx.get(f"{address}/samples/..%2f..%2fetc%2fpasswd").status_code in (404, 422)


def test_another_host_name_is_refused(address):
    response = httpx.get(address, headers={"Host": "evil.example"})
    assert response.status_code == 400


def test_samples_come_from_all_over_a_folder(tmp_path):
    for number in range(30):
        Image.new("RGB", (2000, 10)).save(tmp_path / f"{number:02}.png")
    samples = find_samples(tmp_path)
    assert [sample.name for sample in samples] == [f"{n:02}" for n in range(0, 30, 3)]
    assert Image.open(io.BytesIO(samples[0].jpeg())).size[0] == 1024
