import json
import re
import socket

from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.data.toy.portraits import TWINS


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_the_quick_demo_tells_the_story(tmp_path):
    """A model forgets, RECALL forgets less, and replay photos really came from the site."""
    words = ["demo", "--quick", "--out", str(tmp_path / "demo"), "--port", str(free_port())]
    answer = CliRunner().invoke(app, words, catch_exceptions=False)
    assert answer.exit_code == 0
    lines = answer.stdout.splitlines()
    assert lines[-1] == str(tmp_path / "demo/report.html")
    reached = dict(re.findall(r"│ (\S.*?)\s+│ +[\d.]+ │ +[\d.]+ │ +([\d.]+) │", answer.stdout))
    assert reached.keys() == {"Joint", "FT", "Inpainting", "RECALL (GAN)", "RECALL (Web)"}
    scores = {row: float(score) for row, score in reached.items()}
    assert scores["FT"] < min(scores["RECALL (GAN)"], scores["RECALL (Web)"])
    assert scores["RECALL (Web)"] < scores["Joint"]
    for row, source in (("recall-gan", "gan"), ("recall-web", "flickr")):
        manifest = (tmp_path / f"demo/{row}-s0-quick/replay/manifest.jsonl").read_text()
        entries = [json.loads(line) for line in manifest.splitlines()]
        assert len({entry["class_name"] for entry in entries}) == 19
        assert all(entry["source"] == source and entry["licence"] for entry in entries)
    mapping = json.loads((tmp_path / "demo/recall-gan-s0-quick/mapping.json").read_text())
    found = [name for name, matches in mapping.items() if matches[0][1] == TWINS[name]]
    assert len(found) >= 17
    page = (tmp_path / "demo/report.html").read_text()
    assert "most forgotten by FT" in page
    assert "Replay images of RECALL (Web)" in page
