"""A model with a working size looks at photos of any size as if they had that one."""

import numpy as np
import pytest
import torch
from colour_model import centre, colour_model, disc_photo
from commands import recallseg
from PIL import Image

from recallseg.config import validate
from recallseg.data.dataset import Pair, SegmentationDataset
from recallseg.data.pictures import Pictures
from recallseg.data.shrink import save_mask
from recallseg.data.transforms import photo_tensor
from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.session import Session
from recallseg.model.building import build_model
from recallseg.model.saving import save_weights
from recallseg.predict import deciding
from recallseg.predict.export import Exportable, export_onnx
from recallseg.predict.predictor import Predictor
from recallseg.predict.timeline import Timeline
from recallseg.runs.folder import FORMAT, RunFolder
from recallseg.scenario import look_up

SIDE = 120
SCALES = {0.5: (60, 45), 1.0: (120, 90), 2.0: (241, 180), 4.0: (480, 361)}
"""Widths and heights; sides that do not divide are among them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run folder whose model sees what is red, at 120 px."""
    run = RunFolder(tmp_path_factory.mktemp("red") / "run")
    shape = {"encoder": "efficientnet_lite0", "neck": 8, "weights": "none", "dilations": [1]}
    config = validate({"model": shape, "views": {"longer_side": SIDE}}, "the test")
    run.claim(config)
    run.write_classes(
        {"format": FORMAT, "channels": ["background", "red"], "steps": [["red"]], "initial": 1}
    )
    built = colour_model(build_model(config.model, 2).encoder, 8)
    save_weights(run.encoder, built.encoder)
    save_weights(run.step(0).decoder, built.decoder)
    return run


@pytest.fixture
def predictor(folder):
    return Predictor.open(folder.path, device="cpu")


def disc(predictor, size):
    return disc_photo(size[1], size[0], predictor.model.encoder.mean_colour)


@pytest.mark.parametrize("scale", SCALES)
def test_masks_have_the_photos_size_and_lie_where_the_thing_is(predictor, monkeypatch, scale):
    photo, truth = disc(predictor, SCALES[scale])
    seen, forward = [], predictor.model.encoder.forward
    monkeypatch.setattr(
        predictor.model.encoder, "forward", lambda x: (seen.append(x.shape), forward(x))[1]
    )
    mask = predictor.predict(photo).mask
    assert [max(shape) for shape in seen] == [SIDE]
    assert mask.shape == truth.shape
    assert np.abs(centre(mask) - centre(truth)).max() < max(1, scale)
    both, either = ((mask == 1) & (truth == 1)).sum(), ((mask == 1) | (truth == 1)).sum()
    assert both / either > 0.8


def test_evaluation_timeline_and_prediction_see_the_same(folder, predictor, tmp_path):
    pairs = []
    for number, size in enumerate(SCALES.values()):
        photo, mask = disc(predictor, size)
        pairs.append(Pair(str(number), tmp_path / f"{number}.png", tmp_path / f"{number}.mask.png"))
        photo.save(pairs[-1].photo)
        save_mask(pairs[-1].mask, mask)
    data = SegmentationDataset("discs", tmp_path, "val", ("background", "red"), tuple(pairs))
    session = Session.open(folder.config)
    counts = evaluate(session, predictor.model, data, look_up([1]), keep=tmp_path / "seen.zip")
    masks = [each.mask for each in predictor.predict_many(pair.photo for pair in pairs)]
    truths = [pair.read_mask() for pair in pairs]
    for true in (0, 1):
        for seen in (0, 1):
            both = [((m == seen) & (t == true)).sum() for m, t in zip(masks, truths, strict=True)]
            assert counts.everywhere[true, seen] == sum(both)
    np.testing.assert_array_equal(Pictures(tmp_path / "seen.zip").mask("0"), masks[0])
    timeline = Timeline(folder.path, longer_side=1024)
    np.testing.assert_array_equal(timeline.predict(pairs[3].photo)[0].mask, masks[3])


def test_large_photos_are_decided_a_few_rows_at_a_time(predictor, monkeypatch):
    photo, _ = disc(predictor, (700, 500))
    whole = predictor.predict(photo)
    largest, decide = [], deciding.decide
    monkeypatch.setattr(deciding, "AT_ONCE", 2 * 700 * 9)
    monkeypatch.setattr(
        deciding, "decide", lambda logits: (largest.append(logits.numel()), decide(logits))[1]
    )
    banded = predictor.predict(photo)
    assert max(largest) == 2 * 700 * 9
    np.testing.assert_array_equal(banded.mask, whole.mask)
    assert [each.share for each in banded.scores] == [each.share for each in whole.scores]


def test_tiles_are_for_those_who_ask(folder, monkeypatch):
    native = Predictor.open(folder.path, native=True, device="cpu")
    seen, forward = [], native.model.encoder.forward
    monkeypatch.setattr(
        native.model.encoder, "forward", lambda x: (seen.append(tuple(x.shape)), forward(x))[1]
    )
    native.predict(Image.new("RGB", (300, 200)))
    assert seen == [(1, 3, 200, 300)]
    photo = folder.path.parent / "photo.png"
    Image.new("RGB", (30, 20)).save(photo)
    out = folder.path.parent / "masks"
    assert recallseg("predict", folder.path, photo, "--tiles", "-o", out).returncode == 0


@pytest.mark.parametrize("size", SCALES.values())
def test_what_is_exported_brings_photos_to_the_size_itself(predictor, size):
    photo, _ = disc(predictor, size)
    exportable = Exportable(predictor.model, SIDE)
    with torch.no_grad():
        logits, [mask] = exportable(photo_tensor(photo)[None])
    assert logits.shape[-2:] == (size[1], size[0])
    assert (mask.numpy() == predictor.predict(photo).mask).mean() > 0.995


@pytest.mark.slow
def test_an_exported_file_does_so_too(folder, predictor, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    about = export_onnx(folder.path, tmp_path / "red.onnx")
    assert about["longer_side"] == str(SIDE)
    session = runtime.InferenceSession(tmp_path / "red.onnx")
    for size in SCALES.values():
        photo, _ = disc(predictor, size)
        pixels = np.asarray(photo).transpose(2, 0, 1)[None]
        [[mask]] = session.run(["mask"], {"images": pixels})
        assert (mask == predictor.predict(photo).mask).mean() > 0.995
