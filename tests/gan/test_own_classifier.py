"""Classifiers of your own classes, and what they do to the class mapping."""

import json

import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from recallseg.errors import RecallsegError
from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.classifier import ImageNetClassifier
from recallseg.gan.named_tensors import class_names, read_about, save_named
from recallseg.gan.own_classifier import build_classifier, load_classifier, pooled, save_classifier
from recallseg.gan.training import quality as quality_module
from recallseg.gan.training.classifier_head import fit_head
from recallseg.gan.training.quality import Judge, quality
from recallseg.replay.gan_images import GanSource
from recallseg.replay.gan_source import GanSettings
from recallseg.replay.mapping import Match, check_mapping, map_classes
from recallseg.reporter import Reporter

NAMES = ("blue", "red")


def squares(colour, count=3):
    colour = torch.tensor(colour, dtype=torch.uint8).view(1, 3, 1, 1)
    return colour.expand(count, 3, 32, 32).clone()


@pytest.fixture(scope="module")
def network():
    return ImageNetClassifier()


@pytest.fixture(scope="module")
def file(network, tmp_path_factory):
    """A head that tells blue from red, in a file."""
    images = [Image.new("RGB", (32, 32), colour) for colour in ("#2020d0", "#d02020")]
    features = torch.cat([pooled(network, network.prepare(image)[None]) for image in images])
    path = tmp_path_factory.mktemp("heads") / "toy.classifier.safetensors"
    save_classifier(path, fit_head(features, torch.tensor([0, 1]), 2), NAMES, accuracy="0.5")
    return path


@pytest.fixture(scope="module")
def classifier(file):
    return load_classifier(file)


def test_features_are_what_the_imagenet_head_sees(network):
    photo = network.prepare(Image.new("RGB", (40, 30), "#307010"))[None]
    with torch.no_grad():
        logits = network.network.get_classifier()(pooled(network, photo))
        torch.testing.assert_close(logits, network(photo))


def test_a_head_is_fitted_by_classes_of_equal_weight():
    """Nine of one class and one of another, mirror images: the border is in the middle."""
    features = torch.tensor([[-1.0, 5.0]] * 9 + [[1.0, 5.0]])
    labels = torch.tensor([0] * 9 + [1])
    head = fit_head(features, labels, 2)
    assert head(features).argmax(1).tolist() == labels.tolist()
    middle, side = head(torch.tensor([[0.0, 5.0], [0.5, 5.0]])).softmax(1).tolist()
    assert middle == pytest.approx([0.5, 0.5], abs=1e-3)
    assert side[1] > 0.6
    again = fit_head(features, labels, 2)
    assert torch.equal(again.weight, head.weight)


def test_a_classifier_comes_back_from_its_file(classifier, file):
    assert classifier.names == NAMES
    assert not classifier.training
    assert read_about(file)["accuracy"] == "0.5"
    images = torch.cat([squares((20, 20, 220)), squares((220, 20, 20))])
    judge = Judge(classifier)
    assert judge.right(judge.features(images), torch.tensor([0, 0, 0, 0, 1, 1])) == 0.8333


def test_generated_images_are_counted_that_pass_for_their_class(classifier, monkeypatch):
    """A generator that only ever makes red, and one image of blue."""
    made = {0: [*squares((20, 20, 220), 1), *squares((220, 20, 20))], 1: squares((220, 20, 20), 4)}
    monkeypatch.setattr(quality_module, "sample", lambda _, class_id, count: made[class_id])
    generator = BigGAN(BigGANConfig.at(32, channel_width=4, num_classes=2))
    real = torch.cat([squares((20, 20, 220)), squares((220, 20, 20))])
    labels = torch.tensor([0, 0, 0, 1, 1, 1])
    found = quality(generator, classifier, (real, labels), real, NAMES, Reporter())
    assert found["recognised_by_class"] == {"blue": 0.25, "red": 1.0}
    assert (found["recognised"], found["recognised_of_real"]) == (0.625, 1.0)
    assert found["fid"] > 1 > found["fid_of_real"]


def test_a_configuration_names_a_network_or_a_file(file, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALLSEG_DATA", str(file.parent))
    assert build_classifier(file.name).names == NAMES
    assert build_classifier("efficientnet_lite0").names[281] == "tabby"
    with pytest.raises(RecallsegError, match=r"gone\.safetensors does not exist; `recallseg gan"):
        build_classifier("gone.safetensors")


def test_files_that_are_no_classifiers(tmp_path):
    path = tmp_path / "x.safetensors"
    head = nn.Linear(1280, 2).state_dict()
    save_file(head, path)
    with pytest.raises(RecallsegError, match=r"x\.safetensors is no classifier of `recallseg gan"):
        load_classifier(path)
    save_named(path, head, ("one", "two", "three"), network="efficientnet_lite0")
    with pytest.raises(RecallsegError, match="lacks a linear head"):
        load_classifier(path)
    path.write_bytes(b"not tensors")
    with pytest.raises(RecallsegError, match="lacks a linear head"):
        load_classifier(path)


def test_a_damaged_classifier_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    save_classifier(path, nn.Linear(1280, 2), ("one", "two"))
    held = path.read_bytes()
    path.write_bytes(held[:-1] + bytes([held[-1] ^ 1]))
    with pytest.raises(RecallsegError, match=r"x\.safetensors is damaged"):
        load_classifier(path)


def test_the_same_content_gives_the_same_bytes(tmp_path):
    paths = [tmp_path / f"{number}.safetensors" for number in range(8)]
    for path in paths:
        save_named(path, {"x": torch.ones(3)}, ("one",), more="text", other="words", third="3")
    assert len({path.read_bytes() for path in paths}) == 1


def test_names_are_read_where_there_are_any(tmp_path):
    path = tmp_path / "a.safetensors"
    tensors = {"x": torch.arange(4.0)}
    save_named(path, tensors, ("one, two", "ñ"), more="text")
    assert class_names(path) == ("one, two", "ñ")
    assert read_about(path)["more"] == "text"
    save_file(tensors, path)
    assert class_names(path) is None
    save_file(tensors, path, metadata={"classes": "{"})
    assert class_names(path) is None
    torch.save(tensors, tmp_path / "a.pth")
    assert class_names(tmp_path / "a.pth") is None
    assert class_names(tmp_path / "gone.safetensors") is None


def test_the_mapping_has_the_classifiers_own_names(classifier):
    photo = classifier.prepare(Image.new("RGB", (30, 20), "#e01010"))[None]
    mapping = map_classes([(classifier(photo), [{"rose": 1.0}])], classifier.names)
    assert [match.name for match in mapping["rose"]] == ["red", "blue"]
    assert [match.index for match in mapping["rose"]] == [1, 0]
    check_mapping(mapping, 2, NAMES)


def test_a_mapping_to_another_generators_names_is_refused(tmp_path):
    generator = BigGAN(BigGANConfig.at(32, channel_width=4, num_classes=2))
    known, unknown = (
        GanSource(generator, GanSettings(), names=NAMES),
        GanSource(generator, GanSettings()),
    )
    known.take_up({"rose": (Match(1, "red", 0.9),)})
    wrong = {"shark": (Match(1, "tench", 0.9),)}
    unknown.take_up(wrong)
    with pytest.raises(
        RecallsegError,
        match=r"'shark' is mapped to class 1 \(tench\), .* class 1 is 'red'; set rep",
    ):
        known.take_up(wrong)


def test_images_of_a_generator_trained_anew_are_made_anew(tmp_path):
    torch.manual_seed(0)
    hashes = []
    for _ in range(2):
        source = GanSource(
            BigGAN(BigGANConfig.at(32, channel_width=4, num_classes=2)).eval(), GanSettings()
        )
        source.take_up({"rose": (Match(1, "red", 0.9),)})
        photos = [source.collect("rose", 1, tmp_path, str) for _ in range(2)]
        assert photos[0] == photos[1]
        hashes.append(photos[0][0].sha256)
    assert hashes[0] != hashes[1]


def test_images_are_as_large_as_is_asked_for(tmp_path):
    generator = BigGAN(BigGANConfig.at(32, channel_width=4, num_classes=2)).eval()
    for asked, size in ((None, (32, 32)), (48, (48, 48))):
        source = GanSource(generator, GanSettings(side=asked))
        source.take_up({"rose": (Match(1, "red", 0.9),)})
        [photo] = source.collect("rose", 1, tmp_path, str)
        with Image.open(photo.path(tmp_path)) as image:
            assert image.size == size


def test_the_file_of_a_head_is_small(file):
    assert file.stat().st_size < 12_000
    assert json.loads(read_about(file)["classes"]) == [*NAMES]
