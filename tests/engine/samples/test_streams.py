from collections import Counter

import pytest
import torch

from recallseg.engine.samples.sets import Pick, joined
from recallseg.engine.samples.streams import EvenlyFrom, Interleaved, Shuffled, shares
from recallseg.methods import Batch


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
