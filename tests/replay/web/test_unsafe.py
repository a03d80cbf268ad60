"""A classifier that the user names keeps pictures out of a crawl."""

import numpy as np
import pytest
from photo_site import KEY, PhotoSite, draw, encoded, photos_of
from PIL import Image

from recallseg.errors import RecallsegError
from recallseg.replay.web.crawler import WebSource
from recallseg.replay.web.failures import BadPhoto
from recallseg.replay.web.fetching import FetchLimits, PoliteClient
from recallseg.replay.web.sites import FlickrSite
from recallseg.replay.web.unsafe import UnsafeFilter, UnsafeSettings
from recallseg.replay.web_source import WebSettings

RED, GREY = encoded(Image.new("RGB", (99, 99), "red")), encoded(Image.new("RGB", (99, 99), "grey"))


@pytest.fixture(scope="module", params=["channels first", "channels last"])
def classifier(request, tmp_path_factory):
    """Ten times the mean of each channel, as logits: the first is large where a picture is red."""
    onnx = pytest.importorskip("onnx", reason="needs onnx to make a model")
    first = request.param == "channels first"
    axes = [2, 3] if first else [1, 2]
    shape = [1, 3, 8, 8] if first else [1, 8, "w", 3]
    numbers = {"axes": np.array(axes, np.int64), "ten": np.array(10, np.float32)}
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("ReduceMean", ["photo", "axes"], ["means"], keepdims=0),
            onnx.helper.make_node("Mul", ["means", "ten"], ["logits"]),
        ],
        "redness",
        [onnx.helper.make_tensor_value_info("photo", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, [1, 3])],
        [onnx.numpy_helper.from_array(value, name) for name, value in numbers.items()],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9
    )
    path = tmp_path_factory.mktemp("onnx") / "red.onnx"
    onnx.save(model, path)
    return path


def test_a_picture_of_an_unsafe_class_is_left(classifier):
    reds = UnsafeFilter(UnsafeSettings(classifier=classifier, outputs=(0,)))
    assert reds.probability(RED) > 0.99
    assert reds.probability(GREY) == pytest.approx(1 / 3, abs=0.01)
    reds.check(GREY)
    with pytest.raises(BadPhoto, match="unsafe by the classifier"):
        reds.check(RED)
    two = UnsafeFilter(UnsafeSettings(classifier=classifier, outputs=(0, 2)))
    assert two.probability(GREY) == pytest.approx(2 / 3, abs=0.01)


def test_a_crawl_counts_what_the_classifier_leaves(classifier, tmp_path):
    photos = photos_of("cat", 2, start=1)
    photos += photos_of("cat", 1, start=3, image=encoded(Image.new("RGB", (160, 120), "red")))
    said = []
    limits = FetchLimits(interval=0, attempts=2, backoff=0.01)
    with PhotoSite(photos) as site, PoliteClient(limits, allow_hosts=[site.host]) as client:
        flickr = FlickrSite(client, KEY, f"{site.base}/services/rest/")
        settings = UnsafeSettings(classifier=classifier, outputs=(0,), threshold=0.95)
        source = WebSource(flickr, client, unsafe=UnsafeFilter(settings))
        kept = source.collect("cat", 5, tmp_path / "cat", said.append)
    assert [photo.file.stem for photo in kept] == ["flickr-1", "flickr-2"]
    assert "1 unsafe by the classifier" in said[0]


def test_what_is_no_classifier_is_refused(classifier, tmp_path):
    (tmp_path / "text.onnx").write_text("hello")
    for path, sentence in (
        (tmp_path / "none.onnx", "does not exist"),
        (tmp_path / "text.onnx", "is not an ONNX model"),
    ):
        with pytest.raises(RecallsegError, match=sentence):
            UnsafeFilter(UnsafeSettings(classifier=path))
    seven = UnsafeFilter(UnsafeSettings(classifier=classifier, outputs=(7,)))
    with pytest.raises(RecallsegError, match="has 3 outputs"):
        seven.check(encoded(draw(1)))


def test_settings_without_a_classifier_bring_the_same_images_as_before_there_was_one():
    assert "unsafe" not in WebSettings().images_depend_on()
    assert "unsafe" in WebSettings(unsafe={"classifier": "a.onnx"}).images_depend_on()
