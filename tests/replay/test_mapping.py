import recallseg.torchvision_guard  # noqa: F401

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from skimage.data import chelsea
from torch import Tensor, nn

from recallseg.data.voc import CLASSES
from recallseg.errors import RecallsegError
from recallseg.gan.classifier import (
    ImageNetClassifier,
    imagenet_indexes,
    imagenet_lemmas,
    imagenet_names,
)
from recallseg.replay.mapping import (
    PAPER_MAPPING,
    Match,
    agrees_with_paper,
    check_mapping,
    map_classes,
    paper_rank,
)

NAMES = ("kite", "tabby", "ox", "pot")


def photos(*rows: list[float]) -> Tensor:
    """The logits of photos with these probabilities."""
    return torch.tensor(rows).log()


def alike(*names: str) -> dict[str, float]:
    return dict.fromkeys(names, 1.0)


def test_probabilities_are_summed_per_class() -> None:
    """The cow's first photo is surely a tabby, its two others tell for an ox: 0.3, 0.6, 0.1."""
    batches = [
        (photos([0.0, 0.9, 0.1, 0.0], [0.1, 0.0, 0.9, 0.0]), [alike("cow", "cat"), alike("cow")]),
        (photos([0.2, 0.0, 0.8, 0.0]), [alike("cow", "bird")]),
    ]
    mapping = map_classes(batches, NAMES)
    assert list(mapping) == ["bird", "cat", "cow"]
    assert [match.name for match in mapping["cow"]] == ["ox", "tabby", "kite"]
    assert [match.index for match in mapping["cow"]] == [2, 1, 0]
    assert [match.score for match in mapping["cow"]] == pytest.approx([0.6, 0.3, 0.1])
    assert [match.score for match in mapping["bird"]] == pytest.approx([0.8, 0.2, 0.0])
    assert mapping["cat"][0].name == "tabby"
    assert len(map_classes(batches, NAMES, top=1)["cow"]) == 1


def test_photos_count_by_their_weight() -> None:
    """A cat that fills the photo outweighs three that are specks in it: (0.5·1 + 0.3·0) / 0.8."""
    speck, large = [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]
    weights = [{"cat": 0.1}, {"cat": 0.1}, {"cat": 0.1}, {"cat": 0.5}]
    [best, second] = map_classes([(photos(speck, speck, speck, large), weights)], NAMES, top=2)[
        "cat"
    ]
    assert (best.name, best.score) == ("tabby", pytest.approx(0.625))
    assert second.score == pytest.approx(0.375)


def test_sure_photos_outweigh_many_unsure_ones() -> None:
    """It is the sum of probabilities, not a vote: 0.45+0.45+0.0 < 0.4+0.4+1.0."""
    unsure = [0.45, 0.4, 0.15, 0.0]
    batches = [(photos(unsure, unsure, [0.0, 1.0, 0.0, 0.0]), [alike("cat")] * 3)]
    assert map_classes(batches, NAMES, top=1)["cat"][0].name == "tabby"


def test_no_two_classes_share_one_of_the_generators() -> None:
    """Both resemble an ox; the cow more, so the sheep is left with its second choice."""
    batches = [(photos([0.1, 0.2, 0.7, 0.0], [0.3, 0.1, 0.6, 0.0]), [alike("cow"), alike("sheep")])]

    def chosen(taken: list[int] | None) -> dict[str, str]:
        mapping = map_classes(batches, NAMES, taken=taken)
        return {label: matches[0].name for label, matches in mapping.items()}

    assert chosen(None) == {"cow": "ox", "sheep": "ox"}
    assert chosen([]) == {"cow": "ox", "sheep": "kite"}
    assert chosen([2]) == {"cow": "tabby", "sheep": "kite"}
    with pytest.raises(RecallsegError, match=r"4 classes, too few for 5 of ours .*map_apart=false"):
        chosen([0, 1, 3])


def test_a_classifier_of_other_classes_is_refused() -> None:
    with pytest.raises(RecallsegError, match=r"scores \(1, 4\) for 1 photos and 1000 classes"):
        map_classes([(photos([0.25] * 4), [alike("cat")])])


def test_a_class_that_the_generator_lacks_is_refused() -> None:
    mapping = {"bird": (Match(21, "kite", 0.3),), "cat": (Match(281, "tabby", 0.2),)}
    check_mapping(mapping, 1000)
    with pytest.raises(
        RecallsegError, match=r"'cat' is mapped to class 281 \(tabby\), but .*0 to 99"
    ):
        check_mapping(mapping, 100)
    with pytest.raises(RecallsegError, match="'dog' is mapped to nothing"):
        check_mapping({"dog": ()}, 1000)


def test_imagenet_names_are_in_the_order_of_the_weights() -> None:
    names = imagenet_names()
    assert len(names) == 1000
    known = {21: "kite", 281: "tabby", 404: "airliner", 436: "beach wagon", 999: "toilet tissue"}
    assert {index: names[index] for index in known} == known
    assert imagenet_lemmas()[281] == ("tabby", "tabby cat")


def test_every_name_of_the_papers_table_is_one_imagenet_class() -> None:
    assert list(PAPER_MAPPING) == list(CLASSES[1:-1])
    found = {name: imagenet_indexes(name) for row in PAPER_MAPPING.values() for name in row}
    assert {name for name, indexes in found.items() if len(indexes) != 1} == set()
    known = {"kite (bird)": 21, "tabby cat": 281, "station wagon": 436, "water ox": 346}
    assert {name: found[name][0] for name in known} == known
    assert imagenet_indexes("person") == []


def test_a_match_is_compared_by_any_of_its_names() -> None:
    wagon, racer = Match(436, "beach wagon", 0.1), Match(751, "racer", 0.2)
    assert paper_rank("car", racer) == 1
    assert paper_rank("car", wagon) == 2
    assert paper_rank("cat", wagon) is None
    assert paper_rank("tvmonitor", wagon) is None
    assert agrees_with_paper("car", racer)
    assert not agrees_with_paper("car", wagon)


def test_lite0_maps_a_cat_as_the_paper_does() -> None:
    classifier = ImageNetClassifier()
    cat = Image.fromarray(chelsea())
    prepared = classifier.prepare(cat)
    assert prepared.shape == (3, 183, 275)
    matches = map_classes([(classifier(prepared[None]), [alike("cat")])])["cat"]
    assert {match.index for match in matches} <= {281, 282, 283, 284, 285}
    assert matches[0].score > matches[1].score > matches[2].score
    assert paper_rank("cat", matches[0]) is not None


class Recorder(nn.Module):
    """A network that remembers what it was given, with timm's description of another."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.pretrained_cfg = timm.get_pretrained_cfg(name).to_dict()
        self.seen = torch.empty(0)

    def forward(self, images: Tensor) -> Tensor:
        self.seen = images
        return torch.zeros(len(images), 1000)


@pytest.mark.parametrize(
    ("name", "shape", "mean", "std"),
    [
        ("tf_efficientnet_lite0", (183, 274), [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
        ("efficientnet_b2", (209, 314), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ("vit_tiny_patch16_224", (224, 224), [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
    ],
)
def test_photos_keep_their_proportions_and_are_normalised_as_the_network_says(
    name: str, shape: tuple[int, int], mean: list[float], std: list[float]
) -> None:
    """A 60×40 photo gets the area of 224² or 256²; only a network of fixed size gets a square."""
    network = Recorder(name)
    classifier = ImageNetClassifier(network=network)
    assert not network.training
    prepared = classifier.prepare(Image.fromarray(np.full((40, 60, 3), 51, dtype=np.uint8)))
    assert prepared.shape == (3, *shape)
    assert classifier(prepared[None]).shape == (1, 1000)
    expected = (0.2 - torch.tensor(mean)) / torch.tensor(std)
    torch.testing.assert_close(network.seen[0, :, 9, 9], expected)
