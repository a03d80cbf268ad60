import json

import numpy as np
import pytest
import torch
from drawn import draw_pair
from PIL import Image

from recallseg.data import open_dataset
from recallseg.data.decoding import read_photo
from recallseg.data.transforms import photo_tensor
from recallseg.engine.evaluation.measuring import Counts
from recallseg.engine.evaluation.scoring import score
from recallseg.errors import RecallsegError
from recallseg.predict.placements import placements
from recallseg.predict.predictor import Predictor
from recallseg.predict.tiles import windows
from recallseg.predict.timeline import Timeline
from recallseg.scenario import look_up


@pytest.fixture(scope="module")
def predictor(learned):
    return Predictor.open(learned / "plain", device="cpu")


def logits_of(predictor, image):
    with torch.no_grad():
        return predictor.model(photo_tensor(image)[None]).logits[0]


def near_edge(mask):
    """Which pixels have another label within three pixels, one after the other."""
    windows = {
        (y, x): mask[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4]
        for y, x in np.ndindex(mask.shape)
    }
    return np.array([(window != mask[at]).any() for at, window in windows.items()])


def confusion(predictor, root):
    """Counted pixel by pixel, from predictions of files."""
    dataset = open_dataset("voc", "val", root)
    channels = len(predictor.class_names)
    table = look_up(list(range(1, channels)), hidden=255)
    counts = Counts(*np.zeros((2, channels, channels), dtype=np.int64))
    found = predictor.predict_many(pair.photo for pair in dataset.pairs)
    for row, prediction in enumerate(found):
        mask = dataset.read(row)[1]
        truth, seen = table[mask].ravel(), prediction.mask.ravel()
        edge = near_edge(mask)
        np.add.at(counts.everywhere, (truth[truth < 255], seen[truth < 255]), 1)
        edge &= truth < 255
        np.add.at(counts.near_boundary, (truth[edge], seen[edge]), 1)
    assert 0 < counts.near_boundary.sum() < counts.everywhere.sum()
    return counts


def test_a_mean_over_placements_is_that_of_the_moved_photos(predictor, learned):
    image, _ = draw_pair([1, 2], size=(45, 38), seed=3)
    steady = Predictor.open(learned / "plain", placements=2, device="cpu")
    rows, columns = placements(2, steady.model.encoder.coarsest)[1]
    moved = Image.new("RGB", (45 + columns, 38 + rows), steady.model.encoder.mean_colour)
    moved.paste(image, (columns, rows))
    one, other = (logits_of(predictor, each).softmax(dim=0) for each in (image, moved))
    mean = (one + other[:, rows:, columns:]) / 2
    assert (steady.predict(image).mask == mean.argmax(dim=0).numpy()).all()


def test_predictions_are_what_the_evaluation_measured(learned, predictor):
    measured = json.loads((learned / "plain/step-2/metrics.json").read_text())
    counts = confusion(predictor, learned / "voc")
    names = list(predictor.class_names)
    assert score(2, ["tvmonitor"], names, 18, counts) == measured


def test_a_step_with_its_own_encoder_is_opened_with_it(learned):
    measured = json.loads((learned / "other/step-1/metrics.json").read_text())
    predictor = Predictor.open(learned / "other", 1)
    assert predictor.step == 1
    assert predictor.class_names[-1] == "train"
    counts = confusion(predictor, learned / "voc")
    assert score(1, ["train"], list(predictor.class_names), 18, counts) == measured


def test_paths_images_and_arrays_give_the_same(learned, predictor):
    path = learned / "voc/JPEGImages/w.jpg"
    image = read_photo(path)
    prediction = predictor.predict(path)
    assert prediction.mask.dtype == np.uint8
    assert prediction.mask.shape == (image.height, image.width)
    assert len(prediction.class_names) == 21
    for other in (str(path), image, np.array(image)):
        np.testing.assert_array_equal(predictor.predict(other).mask, prediction.mask)


@pytest.mark.parametrize("wrong", [np.zeros((4, 4, 3)), np.zeros((4, 4, 4), dtype=np.uint8)])
def test_an_array_that_is_no_photo_is_refused(predictor, wrong):
    with pytest.raises(RecallsegError, match="a photo is uint8"):
        predictor.predict(wrong)


def test_scores_are_shares_and_mean_probabilities(predictor):
    image, _ = draw_pair([1, 2, 3], size=(60, 40))
    prediction = predictor.predict(image)
    probabilities = logits_of(predictor, image).softmax(dim=0)
    assert sum(each.share for each in prediction.scores) == pytest.approx(1)
    for each in prediction.scores:
        hits = torch.from_numpy(prediction.mask == each.channel)
        assert each.name == prediction.class_names[each.channel]
        assert each.share == pytest.approx(hits.float().mean().item())
        expected = probabilities[each.channel][hits].mean().item()
        assert each.confidence == pytest.approx(expected, abs=1e-5)


def test_photos_of_many_sizes_come_back_in_their_order(predictor):
    sizes = [(40, 30), (30, 40), (40, 30), (64, 64)] * 5
    images = [draw_pair([n % 20 + 1], size, seed=n)[0] for n, size in enumerate(sizes)]
    for image, prediction in zip(images, predictor.predict_many(iter(images)), strict=True):
        alone = logits_of(predictor, image).argmax(dim=0).numpy()
        assert (prediction.mask == alone).mean() > 0.999


def blotches(width=1600, height=672):
    shape = (height // 32, width // 32, 3)
    colours = np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)
    return Image.fromarray(colours).resize((width, height), Image.Resampling.BICUBIC)


def test_tiles_give_what_the_whole_photo_gives(predictor):
    """With margins beyond what a pixel depends on; the usual ones cover the decoder's reach."""
    image = blotches()
    whole = logits_of(predictor, image)
    edge, runner_up = whole.topk(2, dim=0).values
    certain = (edge - runner_up > 1e-3).numpy()
    wide = Predictor(predictor.model, predictor.class_names, tile=1024, margin=448)
    tiled = wide.predict(image)
    np.testing.assert_array_equal(tiled.mask[certain], whole.argmax(dim=0).numpy()[certain])
    assert certain.mean() > 0.98
    assert len(tiled.scores) > 5


def test_a_large_photo_goes_through_tiles_of_the_stated_size(predictor, monkeypatch):
    small = Predictor(predictor.model, predictor.class_names, tile=64, margin=16)
    seen = []
    forward = small.model.encoder.forward
    monkeypatch.setattr(
        small.model.encoder, "forward", lambda x: (seen.append(x.shape), forward(x))[1]
    )
    prediction = small.predict(Image.new("RGB", (150, 90)))
    assert prediction.mask.shape == (90, 150)
    assert sum(each.share for each in prediction.scores) == pytest.approx(1)
    assert all(shape[0] == 1 and max(shape) <= 64 for shape in seen)


def test_a_longer_side_shrinks_what_the_model_sees_and_not_the_mask(learned, predictor):
    image, _ = draw_pair([1, 2], size=(120, 80))
    smaller = Predictor.open(learned / "plain", longer_side=60)
    small = image.resize((60, 40), Image.Resampling.LANCZOS)
    expected = np.kron(predictor.predict(small).mask, np.ones((2, 2), dtype=np.uint8))
    np.testing.assert_array_equal(smaller.predict(image).mask, expected)


@pytest.mark.parametrize("name", ["plain", "other"])
def test_a_timeline_sees_what_each_step_saw(learned, name):
    timeline = Timeline(learned / name)
    assert [step["new"] for step in timeline.steps()[1:]] == [["train"], ["tvmonitor"]]
    assert len(timeline.steps()[0]["new"]) == 18
    image = read_photo(learned / "voc/JPEGImages/w.jpg")
    for step, prediction in timeline.predict(image).items():
        single = Predictor.open(learned / name, step).predict(image)
        np.testing.assert_array_equal(prediction.mask, single.mask)
        assert prediction.class_names == single.class_names
    with pytest.raises(RecallsegError, match="no step 7; it has 0, 1, 2"):
        timeline.predict(image, [7])


def test_a_timeline_encodes_a_photo_once_where_the_encoder_is_frozen(learned, monkeypatch):
    timeline, calls = Timeline(learned / "plain"), []
    [encoder] = {model.encoder for model in timeline.models.by_step.values()}
    forward = encoder.forward
    monkeypatch.setattr(encoder, "forward", lambda x: (calls.append(x.shape), forward(x))[1])
    assert len(timeline.predict(Image.new("RGB", (40, 30)))) == 3
    assert calls == [(1, 3, 30, 40)]


def test_a_timeline_encodes_each_tile_once(learned, monkeypatch):
    timeline, calls = Timeline(learned / "plain", tile=64, margin=16), []
    [encoder] = {model.encoder for model in timeline.models.by_step.values()}
    forward = encoder.forward
    monkeypatch.setattr(encoder, "forward", lambda x: (calls.append(x.shape), forward(x))[1])
    seen = timeline.predict(Image.new("RGB", (128, 64)))
    assert [prediction.mask.shape for prediction in seen.values()] == [(64, 128)] * 3
    assert len(calls) == len(list(windows(64, 128, 64, 16, encoder.coarsest))) == 3


@pytest.mark.parametrize("name", ["plain", "other"])
@pytest.mark.parametrize(
    ("size", "settings"),
    [
        ((60, 40), {}),
        ((150, 90), {"tile": 64, "margin": 16}),
        ((300, 180), {"tile": 64, "margin": 16, "longer_side": 150}),
        ((120, 80), {"longer_side": 45}),
    ],
)
def test_all_steps_at_once_see_what_one_step_sees(learned, name, size, settings):
    """Whole, in tiles, shrunk, and both; masks have the photo's own size."""
    image = blotches(320, 192).resize(size)
    for step, prediction in Timeline(learned / name, **settings).predict(image).items():
        opened = Predictor.open(learned / name, step)
        alone = Predictor(opened.model, opened.class_names, **settings).predict(image)
        assert prediction.mask.shape == (size[1], size[0])
        assert len(prediction.scores) > 2
        np.testing.assert_array_equal(prediction.mask, alone.mask)
        assert prediction.scores == alone.scores


def test_a_look_that_is_no_longer_wanted_ends_between_tiles(learned):
    timeline, asked = Timeline(learned / "plain", tile=64, margin=16), []

    def still_wanted():
        asked.append(1)
        if len(asked) > 4:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        timeline.predict(Image.new("RGB", (640, 64)), None, still_wanted)
    assert len(asked) < 3 * 10
