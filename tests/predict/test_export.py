import json
import subprocess
import sys

import numpy as np
import onnx
import pytest
import torch
from tiny import tiny_config

from recallseg.config import validate
from recallseg.errors import RecallsegError
from recallseg.model.building import build_model
from recallseg.model.saving import save_weights
from recallseg.predict import export as exporting
from recallseg.predict.export import Exportable, export_onnx
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder

SIZES = [(1, 64, 64), (2, 33, 50), (1, 101, 97)]

ALONE = """
import sys
for name in ("torch", "recallseg", "timm", "torchvision", "onnx", "onnxscript"):
    sys.modules[name] = None
import json
import numpy as np
import onnxruntime
file, photos, out = sys.argv[1:]
session = onnxruntime.InferenceSession(file)
names = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
results = {}
for key, images in np.load(photos).items():
    logits, mask = session.run(["logits", "mask"], {"images": images})
    results |= {f"{key}-logits": logits, f"{key}-mask": mask}
np.savez(out, **results)
print(json.dumps(names))
"""


def run_alone(file, folder):
    """Run an exported file where neither recallseg nor torch can be imported."""
    rng = np.random.default_rng(0)
    photos = {
        f"{b}x{h}x{w}": rng.integers(0, 256, (b, 3, h, w)).astype(np.uint8) for b, h, w in SIZES
    }
    np.savez(folder / "photos.npz", **photos)
    words = [sys.executable, "-c", ALONE, file, folder / "photos.npz", folder / "out.npz"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return photos, np.load(folder / "out.npz"), json.loads(run.stdout)


def axes(value):
    """The names of the axes that may have any length, and the lengths of the others."""
    return [each.dim_param or each.dim_value for each in value.type.tensor_type.shape.dim]


def compare(model, photos, results):
    for key, images in photos.items():
        with torch.no_grad():
            logits = model.eval()(torch.from_numpy(images)).logits.numpy()
        np.testing.assert_allclose(results[f"{key}-logits"], logits, atol=1e-3)
        best = np.sort(logits, axis=1)
        clear = best[:, -1] - best[:, -2] > 1e-3
        mask = results[f"{key}-mask"]
        assert mask.dtype == np.uint8
        np.testing.assert_array_equal(mask[clear], logits.argmax(axis=1)[clear])


@pytest.fixture
def folder(learned, tmp_path, encoder, decoder):
    """A run folder with the random weights of an encoder with a neck."""
    shape = {"model__encoder": encoder, "model__neck": 16, "model__decoder": decoder}
    config = tiny_config(learned / "voc", **shape)
    run = RunFolder(tmp_path / "run")
    run.claim(config)
    run.write_classes(RunFolder(learned / "plain").learned())
    torch.manual_seed(0)
    model = build_model(config.model, 20, weights="none")
    save_weights(run.encoder, model.encoder)
    save_weights(run.step(1).decoder, model.decoder)
    return run.path


@pytest.mark.parametrize(
    ("encoder", "decoder"),
    [
        ("test_efficientnet", "deeplab_v2"),
        pytest.param("test_efficientnet", "deeplab_v3", marks=pytest.mark.slow),
        pytest.param("efficientnet_lite0", "deeplab_v2", marks=pytest.mark.slow),
    ],
)
def test_an_exported_file_gives_the_same_without_recallseg(folder, tmp_path):
    pytest.importorskip("onnxruntime")
    export_onnx(folder, tmp_path / "model.onnx")
    photos, results, names = run_alone(tmp_path / "model.onnx", tmp_path)
    model, _ = open_model(RunFolder.existing(folder))
    compare(model, photos, results)
    graph = onnx.load(tmp_path / "model.onnx").graph
    assert {value.name: axes(value) for value in (*graph.input, *graph.output)} == {
        "images": ["batch", 3, "height", "width"],
        "logits": ["batch", 20, "height", "width"],
        "mask": ["batch", "height", "width"],
    }
    assert (len(names), names[0], names[-1]) == (20, "background", "train")


@pytest.mark.parametrize(
    "parts", [{"tail": None}, {"tail": "decoder"}, {"tail": None, "decoder": "deeplab_v3"}]
)
@pytest.mark.parametrize("size", [(64, 64), (63, 50), (1, 2), (33, 31)])
def test_what_is_exported_is_the_model(size, parts):
    torch.manual_seed(0)
    shape = {"encoder": "efficientnet_lite0", "output_stride": 32, "neck_stride": 16, "neck": 8}
    config = validate({"model": {**shape, **parts}}, "the test")
    model = build_model(config.model, 5).eval()
    exportable = Exportable(model)
    images = torch.randint(0, 256, (2, 3, *size), dtype=torch.uint8)
    with torch.no_grad():
        torch.testing.assert_close(exportable(images)[0], model(images).logits, atol=1e-4, rtol=0)


def test_a_missing_package_is_a_sentence(learned, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RecallsegError, match=r"needs onnx and onnxscript: pip install"):
        export_onnx(learned / "plain", tmp_path / "model.onnx")
