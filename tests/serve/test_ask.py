"""`recallseg ask`: a client of a server, at the command line."""

import json
import subprocess
import sys

import numpy as np
import pytest
from commands import recallseg
from PIL import Image
from plain_run import PlainRun
from running import running

from recallseg.replay.web.loopback import Handler, Loopback
from recallseg.serve.access import Access
from recallseg.serve.app import create_app

TOKEN = "a-token-of-many-letters"


@pytest.fixture(scope="module")
def address():
    with running(create_app({"model": PlainRun()}, access=Access(token=TOKEN))) as address:
        yield address


@pytest.fixture
def photo(tmp_path):
    pixels = np.zeros((20, 30, 3), dtype=np.uint8)
    pixels[:, :15, 0] = 255
    Image.fromarray(pixels).save(tmp_path / "cat.png")
    return tmp_path / "cat.png"


def test_a_mask_comes_back_with_its_classes(address, photo, tmp_path):
    told = recallseg("ask", address, photo, "-o", tmp_path / "out", RECALLSEG_TOKEN=TOKEN)
    assert told.returncode == 0, told.stderr
    assert told.stdout == f"{tmp_path / 'out' / 'cat.png'}: background 50.0%, class0 50.0%\n"
    mask = np.array(Image.open(tmp_path / "out" / "cat.png"))
    assert mask.shape == (20, 30)
    assert mask[:, :15].all()
    assert not mask[:, 15:].any()


def test_all_steps_and_two_photos_of_one_name(address, photo, tmp_path):
    (tmp_path / "more").mkdir()
    other = tmp_path / "more" / "cat.png"
    other.write_bytes(photo.read_bytes())
    words = ("ask", address, photo, other, "-o", tmp_path / "out", "--step", "all", "--json")
    told = recallseg(*words, "--token", TOKEN, "--mask-side", "15")
    assert told.returncode == 0, told.stderr
    entries = json.loads(told.stdout)
    assert [(entry["photo"], entry["step"]) for entry in entries] == [
        (str(path), step) for path in (photo, other) for step in (0, 1)
    ]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"cat-0.png", "cat-1.png", "cat-0-2.png", "cat-1-2.png"}
    with Image.open(tmp_path / "out" / "cat-0.png") as small:
        assert small.size == (15, 10)


def test_failures_are_sentences_and_do_not_stop_the_rest(address, photo, tmp_path):
    (tmp_path / "text.jpg").write_text("hello")
    words = ("ask", address, tmp_path / "text.jpg", tmp_path / "none.jpg", photo)
    told = recallseg(*words, "-o", tmp_path / "out", "--token", TOKEN)
    assert told.returncode == 2
    assert "2 of 3 photos failed" in told.stderr
    assert "answered 400" in told.stderr
    assert "none.jpg cannot be read" in told.stderr
    assert (tmp_path / "out" / "cat.png").is_file()
    told = recallseg("ask", address, photo, "-o", tmp_path / "out")
    assert told.returncode == 2
    assert "answered 401" in told.stderr
    told = recallseg("ask", "http://127.0.0.1:9", photo)
    assert told.returncode == 2
    assert "is `recallseg serve` running there" in " ".join(told.stderr.split())


class Stranger(Loopback):
    """A server that is busy once, and then says something else."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def handler(self):
        stranger = self

        class Strange(Handler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                code, body, headers = stranger.answers.pop(0)
                self.send("application/json", body, code, headers)

        return Strange


def test_a_busy_server_is_asked_again_and_a_strange_one_is_not_believed(photo, tmp_path):
    mask = b'{"steps": [{"step": 0, "classes": [], "mask": "data:image/png;base64,aGVsbG8="}]}'
    site = Stranger(
        (503, b'{"detail": "busy"}', {"Retry-After": "0"}), (200, mask, {}), (200, b"<", {})
    )
    site.start()
    try:
        for sentence in ("holds no mask", "something else than JSON"):
            told = recallseg("ask", site.base, photo, "-o", tmp_path / "out")
            assert told.returncode == 2
            assert sentence in " ".join(told.stderr.split())
    finally:
        site.stop()
    assert not site.answers


def test_the_client_never_loads_torch():
    words = "import sys, recallseg.serve.client, recallseg.cli.ask; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
