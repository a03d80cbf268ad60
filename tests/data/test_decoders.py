"""Photos from strangers are decoded in processes that can be killed."""

import io
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from bombs import scan_bomb
from PIL import Image

from recallseg.data.decoders import Decoders, DecodingLimits, SlowPhotoError
from recallseg.data.decoding import TooManyPixelsError, decode_photo
from recallseg.errors import RecallsegError

FORMATS = ("JPEG", "PNG")
SECONDS = 5
"""Far less than a bomb takes, and far more than a small photo on a busy machine."""


@pytest.fixture(scope="module")
def decoders():
    opened = Decoders(DecodingLimits(FORMATS, pixels=10_000_000, seconds=SECONDS), processes=2)
    yield opened
    opened.close()


def encoded(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def turned_photo():
    exif = Image.Exif()
    exif[0x0112] = 6
    colours = np.random.default_rng(0).integers(0, 256, (40, 60, 3)).astype(np.uint8)
    return encoded(Image.fromarray(colours), "JPEG", exif=exif)


@pytest.mark.parametrize(
    "data",
    [
        turned_photo(),
        encoded(Image.new("RGBA", (7, 9), "#12345678")),
        encoded(Image.new("I;16", (8, 8), 30_000)),
    ],
    ids=["turned", "transparent", "16 bits"],
)
def test_a_photo_is_what_it_is_when_it_is_decoded_here(decoders, data):
    expected = decode_photo(io.BytesIO(data), "The photo", formats=FORMATS)
    photo = decoders.decode(data, "The photo")
    assert photo.mode == "RGB"
    np.testing.assert_array_equal(np.asarray(photo), np.asarray(expected))


@pytest.mark.parametrize(
    ("data", "error", "sentence"),
    [
        (b"hello", RecallsegError, "The photo cannot be read: it is not an image"),
        (encoded(Image.new("L", (4000, 3000))), TooManyPixelsError, "at most 10 million pixels"),
        (encoded(Image.new("L", (9, 9)), "BMP"), RecallsegError, "not an image"),
    ],
)
def test_refusals_are_the_usual_sentences(decoders, data, error, sentence):
    with pytest.raises(error, match=sentence):
        decoders.decode(data, "The photo")


def test_a_scan_bomb_is_ended_while_others_go_on(decoders):
    photo, killed = encoded(Image.new("RGB", (30, 20), "#c04020")), decoders.killed
    ended = threading.Event()
    said = []

    def explode():
        try:
            decoders.decode(scan_bomb(), "The upload")
        except SlowPhotoError as error:
            said.append(str(error))
        finally:
            ended.set()

    threading.Thread(target=explode).start()
    decoded_meanwhile = 0
    while not ended.is_set():
        decoders.decode(photo, "A photo")
        decoded_meanwhile += 1
    assert decoded_meanwhile > 0
    assert said[0].startswith(f"The upload was not decoded within {SECONDS} seconds")
    assert decoders.killed == killed + 1
    for _ in range(3):
        assert decoders.decode(photo, "A photo").getpixel((9, 9)) == (0xC0, 0x40, 0x20)


def children():
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid=,args="], capture_output=True, text=True
    )
    rows = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    return [int(pid) for pid, words in rows if "recallseg.data.decoder_process" in words]


def test_a_process_that_died_is_replaced_and_none_is_left_behind():
    before = set(children())
    decoders = Decoders(DecodingLimits(FORMATS), processes=1)
    photo = encoded(Image.new("RGB", (5, 5)))
    decoders.decode(photo, "A photo")
    (pid,) = set(children()) - before
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert decoders.decode(photo, "A photo").size == (5, 5)
    decoders.close()
    assert set(children()) == before


def test_a_process_that_has_closed_its_pipes_but_is_not_gone_yet_is_replaced():
    closing = ["sh", "-c", "exec <&- >&-; sleep 60"]
    decoders = Decoders(DecodingLimits(FORMATS), processes=1)
    (decoder,) = decoders._all
    decoder._process = subprocess.Popen(closing, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    decoder._ready = True
    photo = encoded(Image.new("RGB", (5, 5)))
    try:
        with pytest.raises(SlowPhotoError):
            decoders.decode(photo, "A photo")
        assert decoders.decode(photo, "A photo").size == (5, 5)
    finally:
        decoders.close()


def test_memory_is_limited():
    limits = DecodingLimits(FORMATS, bytes_per_pixel=-7)  # 220 MB, most of which Python takes
    decoders = Decoders(limits, processes=1)
    try:
        data = encoded(Image.new("L", (7000, 5000)), "JPEG")
        with pytest.raises(RecallsegError, match=r"needs too much memory|MemoryError|memory"):
            decoders.decode(data, "The photo")
    finally:
        decoders.close()


def test_the_process_never_loads_torch():
    words = "import sys, recallseg.data.decoder_process; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
