import numpy as np
import pytest
import torch
from drawn import whole_voc

from recallseg.data import open_dataset
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.samples.relabelling import (
    HelperLabels,
    Labelling,
    Relabelled,
    drawn_from,
    inpainting,
    relabelled,
)
from recallseg.engine.samples.sets import BankSamples, Pick, samples_of
from recallseg.methods import Batch
from recallseg.model import DeepLabV2, Encoder, Segmenter
from recallseg.model.bank import FeatureBank
from recallseg.scenario import look_up


def test_inpainting_asks_the_previous_model():
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    previous = Segmenter(encoder, DeepLabV2(encoder.channels, 3, dilations=(1,)))
    for branch in previous.decoder.branches:
        torch.nn.init.zeros_(branch.weight)
        branch.bias.data = torch.tensor([0.0, 0.0, 5.0])

    class Blank:
        def __len__(self):
            return 1

        def batch(self, picks):
            labels = torch.tensor([[[0, 3], [255, 0]]], dtype=torch.uint8)
            return Batch(labels, features=torch.zeros(1, encoder.channels, 2, 2))

    batch = relabelled(Blank(), inpainting(previous)).batch([Pick(0, 0)])
    assert batch.labels.tolist() == [[[2, 3], [255, 2]]]
    assert batch.features is not None


def test_stored_views_are_inpainted_once_with_the_same_result(tmp_path):
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    previous = Segmenter(encoder, DeepLabV2(encoder.channels, 3, dilations=(1,), init_std=1.0))
    bank = FeatureBank(tmp_path / "bank", dataset, encoder, ViewRecipe(33), 2, 0)
    bank.fill([4, 6])
    samples = BankSamples(bank, [4, 6], look_up([7], first=3))
    picks = [Pick(1, 0), Pick(0, 3), Pick(1, 1)]
    given = samples.batch(picks).labels
    once = relabelled(samples, inpainting(previous)).batch(picks)
    anew = Relabelled(samples, inpainting(previous)).batch(picks)
    assert torch.equal(once.labels, anew.labels)
    assert torch.equal(once.features, anew.features)
    assert len(once.labels.unique()) > 1
    assert torch.equal(samples.batch(picks).labels, given)


def test_a_helper_labels_all_but_void_in_channels_of_the_main_model(tmp_path):
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    helper = Segmenter(encoder, DeepLabV2(encoder.channels, 3, dilations=(1,), init_std=1.0)).eval()
    bank = FeatureBank(tmp_path / "bank", dataset, encoder, ViewRecipe(33, (0.5, 0.5)), 3, 0)
    rows = list(range(len(dataset)))
    bank.fill(rows)
    samples = BankSamples(bank, rows, look_up([1]))
    channels = np.array([0, 11, 12], dtype=np.uint8)
    labelled = relabelled(samples, Labelling(helper, channels))
    for row in rows:
        picks = [Pick(row, view) for view in range(3)]
        given, written = samples.batch(picks), labelled.batch(picks).labels
        seen = helper(features=given.features, size=(33, 33)).logits.argmax(dim=1)
        expected = torch.from_numpy(channels)[seen]
        void = given.labels == 255
        assert void.any()
        assert (written[void] == 255).all()
        assert torch.equal(written[~void], expected[~void])


def labelled_sets(tmp_path):
    """A model and two sets of stored views for it to label."""
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    model = Segmenter(encoder, DeepLabV2(encoder.channels, 3, dilations=(1,), init_std=1.0)).eval()
    bank = FeatureBank(tmp_path / "bank", dataset, encoder, ViewRecipe(33), 2, 0)
    bank.fill([4, 6, 9])
    sets = [BankSamples(bank, rows, look_up([7], first=3)) for rows in ([4, 6], [9])]
    return model, sets


def test_sets_that_one_model_labels_are_seen_together_with_the_same_result(tmp_path):
    model, sets = labelled_sets(tmp_path)
    looks, fill = [], inpainting(model)

    def watched(batch):
        looks.append(len(batch.labels))
        return fill(batch)

    once = [relabelled(each, watched) for each in sets]
    chosen, picks = [0, 1, 0, 1], [Pick(1, 0), Pick(0, 1), Pick(0, 5), Pick(0, 1)]
    together = drawn_from([once[at] for at in chosen], picks)
    assert looks == [4]
    again = drawn_from([once[at] for at in chosen], picks)
    assert looks == [4]
    for at, (member, pick) in enumerate(zip(chosen, picks, strict=True)):
        alone = Relabelled(sets[member], fill).batch([pick])
        for batch in (together, again):
            assert torch.equal(batch.labels[at], alone.labels[0])
            assert torch.equal(batch.features[at], alone.features[0])


def test_sets_of_several_helpers_are_drawn_in_order_and_seen_by_each_at_once(tmp_path, monkeypatch):
    model, sets = labelled_sets(tmp_path)
    decoder = DeepLabV2(model.encoder.channels, 3, dilations=(1,), init_std=1.0)
    other = Segmenter(model.encoder, decoder).eval()
    channels = np.array([0, 11, 12], dtype=np.uint8)
    looks = []
    for helper in (model, other):
        see = helper.forward

        def watched(*args, see=see, **kwargs):
            looks.append(len(kwargs["features"]))
            return see(*args, **kwargs)

        monkeypatch.setattr(helper, "forward", watched)
    labels = HelperLabels()
    once = [
        labels.relabelled(sets[0], model, channels, "cats"),
        labels.relabelled(sets[1], other, channels, "dogs"),
        labels.relabelled(sets[0], model, channels.copy(), "cows"),
        sets[1],
    ]
    picks = [Pick(1, 0), Pick(0, 1), Pick(0, 1), Pick(0, 0)]
    batch = drawn_from(once, picks)
    assert looks == [2, 1]
    for at, (member, pick) in enumerate(zip(once, picks, strict=True)):
        alone = member.batch([pick])
        assert torch.equal(batch.labels[at], alone.labels[0])
        assert torch.equal(batch.features[at], alone.features[0])


def test_a_helper_labels_a_view_once_in_all_steps(tmp_path, monkeypatch):
    model, (samples, other) = labelled_sets(tmp_path)
    channels = np.array([0, 11, 12], dtype=np.uint8)
    labels, picks = HelperLabels(), [Pick(1, 0), Pick(0, 1)]
    first = labels.relabelled(samples, model, channels, "cats").batch(picks)
    monkeypatch.setattr(model, "forward", lambda *_, **__: pytest.fail("looked again"))
    later = labels.relabelled(samples, model, channels, "cats").batch(picks)
    assert torch.equal(first.labels, later.labels)
    with pytest.raises(pytest.fail.Exception, match="looked again"):
        labels.relabelled(other, model, channels, "dogs").batch([Pick(0, 0)])


@pytest.mark.parametrize("writer", ["inpainting", "helper"])
def test_labels_do_not_depend_on_what_is_stored(tmp_path, writer):
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    model = Segmenter(encoder, DeepLabV2(encoder.channels, 3, dilations=(1,), init_std=1.0)).eval()
    channels = np.array([0, 11, 12], dtype=np.uint8)
    relabel = inpainting(model) if writer == "inpainting" else Labelling(model, channels)
    rows = [4, 6, 9]
    picks = [Pick(row, view) for view in range(2) for row in range(3)]
    batches = []
    for name, stored in {"all": rows, "one": [6], "none": []}.items():
        bank = FeatureBank(tmp_path / name, dataset, encoder, ViewRecipe(33), 2, 0)
        bank.fill(stored)
        samples = samples_of(bank, rows, look_up([7], first=3))
        batches.append(relabelled(samples, relabel).batch(picks))
    assert len(batches[0].labels.unique()) > 1
    for batch in batches[1:]:
        assert torch.equal(batch.labels, batches[0].labels)
        assert torch.equal(batch.features, batches[0].features)
