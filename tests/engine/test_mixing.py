from collections import Counter

import numpy as np
import pytest
import torch
from drawn import whole_voc

from recallseg.data import open_dataset
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.mixing import EvenlyFrom, Inpainted, Interleaved, inpainted, joined, shares
from recallseg.engine.samples import BankSamples, Pick, Shuffled
from recallseg.methods import Batch
from recallseg.model import Decoder, Encoder, Segmenter
from recallseg.model.bank import FeatureBank


class Marked:
    """Samples that say which set they are from."""

    def __init__(self, mark, length):
        self.mark, self.length = mark, length

    def __len__(self):
        return self.length

    def batch(self, picks):
        values = torch.tensor([100 * self.mark + pick.row for pick in picks])
        return Batch(values, features=values.float())


def test_every_batch_holds_both_kinds_also_the_last():
    old = EvenlyFrom([Marked(1, 3), Marked(2, 5)], size=2, seed="s")
    stream = Interleaved(Shuffled(Marked(9, 7), 6, "s"), old)
    for number in range(50):
        marks = Counter((stream.batch(number).labels // 100).tolist())
        assert marks[9] == 6
        assert marks[1] + marks[2] == 2


def test_past_classes_come_equally_often():
    old = EvenlyFrom([Marked(m, 4 + m) for m in range(15)], size=8, seed="s")
    marks = Counter(m for number in range(150) for m, _ in old.picks(number))
    assert set(marks.values()) == {80}
    within = Counter(p.row for number in range(150) for m, p in old.picks(number) if m == 4)
    assert set(within.values()) == {10}


@pytest.mark.parametrize(
    ("batch", "ratio", "expected"),
    [(16, 1, (8, 8)), (16, 3, (4, 12)), (16, 1 / 3, (12, 4)), (4, 100, (1, 3)), (4, 0.01, (3, 1))],
)
def test_shares_of_a_batch(batch, ratio, expected):
    assert shares(batch, ratio) == expected


def test_batches_are_joined_in_order():
    whole = joined([Marked(1, 9).batch([Pick(2, 0)]), Marked(2, 9).batch([Pick(1, 0)])])
    assert whole.labels.tolist() == [102, 201]
    assert whole.features.tolist() == [102.0, 201.0]
    assert whole.photos is None


def test_inpainting_asks_the_previous_model():
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    previous = Segmenter(encoder, Decoder(encoder.channels, 3, dilations=(1,)))
    for branch in previous.decoder.branches:
        torch.nn.init.zeros_(branch.weight)
        branch.bias.data = torch.tensor([0.0, 0.0, 5.0])

    class Blank:
        def __len__(self):
            return 1

        def batch(self, picks):
            labels = torch.tensor([[[0, 3], [255, 0]]], dtype=torch.uint8)
            return Batch(labels, features=torch.zeros(1, encoder.channels, 1, 1))

    batch = inpainted(Blank(), previous).batch([Pick(0, 0)])
    assert batch.labels.tolist() == [[[2, 3], [255, 2]]]
    assert batch.features is not None


def test_stored_views_are_inpainted_once_with_the_same_result(tmp_path):
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    previous = Segmenter(encoder, Decoder(encoder.channels, 3, dilations=(1,), init_std=1.0))
    bank = FeatureBank(tmp_path / "bank", dataset, encoder, ViewRecipe(33), 2, 0)
    bank.fill([4, 6])
    table = np.where(np.arange(256) == 7, 3, 0).astype(np.uint8)
    samples = BankSamples(bank, [4, 6], table)
    picks = [Pick(1, 0), Pick(0, 3), Pick(1, 1)]
    once = inpainted(samples, previous).batch(picks)
    anew = Inpainted(samples, previous, 0.0).batch(picks)
    assert torch.equal(once.labels, anew.labels)
    assert torch.equal(once.features, anew.features)
    assert len(once.labels.unique()) > 1
    assert samples.relabelled is None
