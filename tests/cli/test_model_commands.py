"""`predict`, `info`, `export` and `serve` from the command line."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from drawn import draw_pair
from PIL import Image
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.errors import RecallsegError
from recallseg.predict.predictor import Predictor


def recallseg(*words):
    """Run a command in this process; its exit code is 2 for an error that is a sentence."""
    found = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(found.exception, RecallsegError):
        return 2, found.stdout, found.stderr + str(found.exception)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.stdout, found.stderr


@pytest.fixture
def photos(tmp_path):
    for number, name in enumerate(("a/x.jpg", "b/x.png", "b/y.bmp", "b/notes.txt")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if path.suffix == ".txt":
            path.write_text("not a photo")
        else:
            draw_pair([number + 1], size=(40, 30), seed=number)[0].save(path)
    return tmp_path


def test_two_photos_of_one_name_get_two_masks(learned, photos):
    out = photos / "out"
    pattern = photos / "a" / "*.jpg"
    code, _, said = recallseg("predict", learned / "plain", pattern, photos / "b", "-o", out)
    assert code == 0, said
    assert sorted(path.name for path in out.iterdir()) == ["x-2.png", "x.png", "y.png"]
    predictor = Predictor.open(learned / "plain")
    for name, photo in {"x": "a/x.jpg", "x-2": "b/x.png", "y": "b/y.bmp"}.items():
        mask = np.array(Image.open(out / f"{name}.png"))
        np.testing.assert_array_equal(mask, predictor.predict(photos / photo).mask)
    assert "3 of 3 photos" in said


def test_a_photo_is_never_overwritten_by_its_mask(learned, photos):
    before = (photos / "b/x.png").read_bytes()
    assert recallseg("predict", learned / "plain", photos / "b/x.png", "-o", photos / "b")[0] == 0
    assert (photos / "b/x.png").read_bytes() == before
    with Image.open(photos / "b/x-2.png") as mask:
        assert mask.mode == "P"


def test_broken_photos_do_not_stop_the_rest_and_are_listed(learned, photos):
    (photos / "b/broken.jpg").write_bytes((photos / "a/x.jpg").read_bytes()[:200])
    (photos / "b/text.jpg").write_text("hello")
    words = [photos / "b", photos / "nowhere.jpg", "-o", photos / "out", "--format", "overlay"]
    code, _, said = recallseg("predict", learned / "plain", *words)
    assert code == 2
    assert "3 of 5 photos failed" in said
    for name in ("broken.jpg", "text.jpg", "nowhere.jpg"):
        assert name in said
    assert sorted(path.name for path in (photos / "out").iterdir()) == [
        "x-overlay.jpg",
        "y-overlay.jpg",
    ]


def test_json_and_coco_go_to_standard_output_or_into_a_folder(learned, photos):
    words = ["predict", learned / "plain", photos / "b", "--step", "0"]
    code, told, _ = recallseg(*words, "--format", "json")
    summary = json.loads(told)
    assert code == 0
    assert (summary["step"], len(summary["class_names"])) == (0, 19)
    assert [photo["width"] for photo in summary["photos"]] == [40, 40]
    for photo in summary["photos"]:
        assert sum(each["share"] for each in photo["classes"]) == pytest.approx(1, abs=1e-3)
    assert recallseg(*words, "--format", "coco", "-o", photos / "out")[0] == 0
    coco = json.loads((photos / "out/coco.json").read_text())
    assert [image["file_name"] for image in coco["images"]] == [
        str(photos / "b/x.png"),
        str(photos / "b/y.bmp"),
    ]
    assert len(coco["categories"]) == 18


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["predict", "MODEL", "*.nothing"], "No file matches"),
        (["predict", "MODEL", "EMPTY"], "holds no photo"),
        (["predict", "MODEL", "x.jpg", "--format", "gif"], "Unknown format 'gif'. Known: png"),
        (["predict", "MODEL", "x.jpg", "--step", "9"], "has no step 9; it has 0, 1, 2"),
        (["predict", "EMPTY", "x.jpg"], "is not a run folder"),
        (["info", "EMPTY"], "is not a run folder"),
        (["export", "EMPTY", "--onnx", "x.onnx"], "is not a run folder"),
        (["serve", "EMPTY"], "is not a run folder"),
        (["serve", "MODEL", "--samples", "EMPTY"], "holds no photo"),
        (["serve", "MODEL", "--samples", "EMPTY/no"], "does not exist"),
    ],
)
def test_wrong_commands_end_with_a_sentence(learned, tmp_path, words, sentence):
    names = {"MODEL": str(learned / "plain"), "EMPTY": str(tmp_path)}
    code, _, said = recallseg(*[names.get(w, w.replace("EMPTY", str(tmp_path))) for w in words])
    assert code == 2
    assert sentence in said


def test_info_tells_the_life_of_a_model(learned):
    code, told, _ = recallseg("info", learned / "plain", "--json")
    found = json.loads(told)
    assert code == 0
    assert (found["method"], found["keeps_photos"], found["finished"]) == ("ft", False, True)
    assert [step["classes"] for step in found["steps"][1:]] == [["train"], ["tvmonitor"]]
    assert [step["photos"] for step in found["steps"]] == [40, 2, 2]
    result = json.loads((learned / "plain/result.json").read_text())
    assert [step["miou"] for step in found["steps"]] == [step["miou"] for step in result["steps"]]
    sizes = [p.stat().st_size for p in (learned / "plain").rglob("*") if p.is_file()]
    assert found["bytes"] == sum(sizes)
    assert not any(step["own_encoder"] for step in found["steps"])


def test_info_counts_replay_by_licence_and_warns_of_photos(learned, tmp_path):
    import shutil

    run = tmp_path / "run"
    shutil.copytree(learned / "plain", run)
    (run / "checksums.json").unlink()
    (run / "replay").mkdir()
    lines = [("web", "CC BY", None), ("web", "CC BY", "class not seen"), ("gan", "", None)]
    text = "".join(
        json.dumps({"source": source, "licence": licence, "rejected": rejected}) + "\n"
        for source, licence, rejected in lines
    )
    (run / "replay/manifest.jsonl").write_text(text + '{"torn')
    (run / "step-1/samples").mkdir()
    (run / "step-1/samples/a.mask.png").touch()
    found = json.loads(recallseg("info", run, "--json")[1])
    assert found["replay"] == [
        {"source": "gan", "licence": "", "images": 1, "used": 1},
        {"source": "web", "licence": "CC BY", "images": 2, "used": 1},
    ]
    assert found["keeps_photos"]
    shown = recallseg("info", run)[1]
    assert "KEEPS TRAINING PHOTOS: 1 " in shown
    assert "CC BY" in shown


def test_info_needs_no_torch(learned):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from recallseg.cli.main import main\n"
        f"sys.argv = ['recallseg', 'info', {str(learned / 'plain')!r}]; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert run.returncode == 0, run.stderr
    assert "keeps no training photos" in run.stdout


def test_serve_listens_on_this_machine_and_knows_both_runs(learned, monkeypatch):
    import socket

    import uvicorn
    from fastapi.testclient import TestClient

    seen = {}

    def run(server, sockets):
        seen.update(address=sockets[0].getsockname(), app=server.config.app)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    words = ["serve", learned / "plain", "--compare", learned / "other", "--max-upload-mb", "1"]
    code, _, said = recallseg(*words, "--port", "0")
    host, port = seen["address"]
    assert (code, host) == (0, "127.0.0.1")
    assert f"Open http://127.0.0.1:{port} " in said
    about = TestClient(seen["app"], base_url="http://localhost").get("/model").json()
    assert [run["name"] for run in about["runs"]] == ["plain", "other"]
    assert about["upload_bytes"] == 1_000_000
    with socket.create_server(("127.0.0.1", 0)) as busy:
        code, _, said = recallseg(*words, "--port", busy.getsockname()[1])
    assert code == 2
    assert "choose another --port" in said
