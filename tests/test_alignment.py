"""A mask lies where the thing is, for every size of a photo and on every way from it to a mask."""

import base64
import io

import numpy as np
import pytest
import torch
from colour_model import centre, colour_model, disc_photo
from PIL import Image
from running import PATIENCE, running

from recallseg.config import validate
from recallseg.data.dataset import Pair, SegmentationDataset
from recallseg.data.pictures import Pictures
from recallseg.data.shrink import save_mask
from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.session import Session
from recallseg.model.building import build_model
from recallseg.model.saving import save_weights
from recallseg.predict.export import export_onnx
from recallseg.predict.predictor import Predictor
from recallseg.predict.timeline import Timeline
from recallseg.runs.folder import FORMAT, RunFolder
from recallseg.scenario import look_up

SIZES = [(height, 227 - height) for height in range(97, 131)]
MODELS = {
    "lite0": {"encoder": "efficientnet_lite0", "neck": 8, "neck_stride": 16},
    "lite0 with a tail": {
        "encoder": "efficientnet_lite0",
        "output_stride": 32,
        "neck": 8,
        "neck_stride": 16,
        "tail": "decoder",
    },
    "resnet": {"encoder": "resnet18", "output_stride": 16},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    """A run folder whose model sees what is red, and photos of discs with their masks."""
    path = tmp_path_factory.mktemp("red")
    values = {"model": {"weights": "none", "dilations": [1], **MODELS[request.param]}}
    config = validate(values, "the test")
    folder = RunFolder(path / "run")
    folder.claim(config)
    folder.write_classes(
        {"format": FORMAT, "channels": ["background", "red"], "steps": [["red"]], "initial": 1},
    )
    plain = build_model(config.model, 2)
    built = colour_model(plain.encoder, config.model.neck, plain.decoder.tail)
    save_weights(folder.encoder, built.encoder)
    save_weights(folder.step(0).decoder, built.decoder)
    discs = {f"{h}x{w}": disc_photo(h, w, built.encoder.mean_colour) for h, w in SIZES}
    return folder, discs


def assert_aligned(discs, masks):
    assert len(masks) == len(discs)
    for (stem, (_, truth)), mask in zip(discs.items(), masks, strict=True):
        assert mask.shape == truth.shape
        apart = np.abs(centre(mask) - centre(truth)).max()
        assert apart < 1, f"{stem}: {apart:.1f} pixels beside the disc"


def test_evaluation(model, tmp_path):
    folder, discs = model
    pairs = []
    for stem, (photo, mask) in discs.items():
        pairs.append(Pair(stem, tmp_path / f"{stem}.png", tmp_path / f"{stem}.mask.png"))
        photo.save(pairs[-1].photo)
        save_mask(pairs[-1].mask, mask)
    data = SegmentationDataset("discs", tmp_path, "val", ("background", "red"), tuple(pairs))
    opened = Predictor.open(folder.path).model
    session = Session.open(folder.config)
    evaluate(session, opened, data, look_up([1]), keep=tmp_path / "seen.zip")
    seen = Pictures(tmp_path / "seen.zip")
    assert_aligned(discs, [seen.mask(stem) for stem in discs])


def test_predict(model):
    folder, discs = model
    found = Predictor.open(folder.path).predict_many(photo for photo, _ in discs.values())
    assert_aligned(discs, [prediction.mask for prediction in found])


def test_tiles(model):
    folder, discs = model
    whole = Predictor.open(folder.path)
    # The margin is more than a cell of the coarsest stride, 32, which reaches into its neighbours.
    tiled = Predictor(whole.model, whole.class_names, tile=112, margin=40)
    assert_aligned(discs, [tiled.predict(photo).mask for photo, _ in discs.values()])


def test_serve(model):
    httpx = pytest.importorskip("httpx")
    from recallseg.serve.app import create_app

    folder, discs = model
    masks = []
    app = create_app({"model": Timeline(folder.path)})
    with running(app) as address, httpx.Client(timeout=PATIENCE) as client:
        for photo, _ in discs.values():
            buffer = io.BytesIO()
            photo.save(buffer, "PNG")
            files = {"file": ("disc.png", buffer.getvalue())}
            [step] = client.post(f"{address}/predict", files=files).json()["steps"]
            png = base64.b64decode(step["mask"].partition(",")[2])
            masks.append(np.array(Image.open(io.BytesIO(png))))
    assert_aligned(discs, masks)


@pytest.mark.slow
def test_exported_file(model, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    folder, discs = model
    export_onnx(folder.path, tmp_path / "red.onnx")
    session = runtime.InferenceSession(tmp_path / "red.onnx")
    pixels = [np.asarray(photo).transpose(2, 0, 1)[None] for photo, _ in discs.values()]
    assert_aligned(discs, [session.run(["mask"], {"images": each})[0][0] for each in pixels])


def test_tiles_of_odd_sizes_begin_at_cells(model):
    """Away from their margins, tiles see exactly what the whole photo shows."""
    folder, _ = model
    whole = Predictor.open(folder.path)
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 256, (11, 9, 3), dtype=np.uint8)).resize((201, 150))
    tiled = Predictor(whole.model, whole.class_names, tile=150, margin=48)
    with torch.no_grad():
        expected = whole.predict(noise).mask
    agree = (tiled.predict(noise).mask == expected).mean()
    assert agree > 0.999
