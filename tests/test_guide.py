"""The guide, command by command, as a newcomer follows it."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from commands import recallseg
from PIL import Image

GUIDE = Path(__file__).parents[1] / "docs/guide.md"


def commands():
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_every_command_of_the_guide_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in commands():
        words = line.split()
        assert words[0] == "recallseg"
        if words[1] == "serve":
            assert "predict" in served(words[1:], tmp_path)
            continue
        done = recallseg(*words[1:])
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert len(list((tmp_path / "masks").glob("*.png"))) == 12
    assert_exported_as_predicted(tmp_path)
    assert not (tmp_path / "model/step-1").exists()
    assert "recallseg learn" in (tmp_path / "report.html").read_text()


def assert_exported_as_predicted(folder):
    """The exported file sees in photos what `predict` wrote into masks."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(folder / "model.onnx")
    for path in sorted((folder / "masks").glob("*.png"))[:3]:
        [photo] = (folder / "later/images").glob(f"{path.stem}.*")
        pixels = np.asarray(Image.open(photo).convert("RGB")).transpose(2, 0, 1)[None]
        mask = np.asarray(Image.open(path))
        assert (session.run(["mask"], {"images": pixels})[0][0] == mask).mean() > 0.99


def served(words, folder):
    """The page's own description, from a server that is stopped again."""
    command = [sys.executable, "-m", "recallseg", *words, "--port", "8799"]
    server = subprocess.Popen(command, cwd=folder, env=os.environ)
    try:
        for _ in range(240):
            try:
                return httpx.get("http://127.0.0.1:8799/openapi.json").text
            except httpx.TransportError:
                time.sleep(0.5)
        raise AssertionError("the server did not answer")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)
