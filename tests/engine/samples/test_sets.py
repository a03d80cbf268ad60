from collections import Counter

import torch
from drawn import whole_voc

from recallseg.data import open_dataset
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.samples.sets import BankSamples, PhotoSamples, Pick
from recallseg.engine.samples.streams import Shuffled
from recallseg.methods import Batch
from recallseg.model import Encoder
from recallseg.model.bank import FeatureBank
from recallseg.scenario import look_up


class Numbers:
    """Samples that are nothing but their own number."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def batch(self, picks):
        return Batch(torch.tensor([pick.row for pick in picks]))


def test_every_photo_comes_once_in_each_round():
    stream = Shuffled(Numbers(7), size=3, seed="a")
    picks = [pick for i in range(7) for pick in stream.picks(i)]
    assert Counter(picks) == Counter(Pick(row, visit) for visit in range(3) for row in range(7))
    orders = {tuple(p.row for p in picks[7 * v : 7 * v + 7]) for v in range(3)}
    assert len(orders) > 1


def test_a_batch_is_a_function_of_its_number():
    assert Shuffled(Numbers(50), 4, "a").picks(31) == Shuffled(Numbers(50), 4, "a").picks(31)
    assert Shuffled(Numbers(50), 4, "a").picks(31) != Shuffled(Numbers(50), 4, "b").picks(31)


def test_processes_share_a_batch():
    stream = Shuffled(Numbers(50), size=5, seed="a")
    whole = stream.batch(3).labels.tolist()
    assert stream.batch(3, rank=0, world=2).labels.tolist() == whole[0::2]
    assert stream.batch(3, rank=1, world=2).labels.tolist() == whole[1::2]


def test_photos_are_relabelled_and_cut_anew_at_each_visit(tmp_path):
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    table = look_up([3])
    samples = PhotoSamples(dataset, table, ViewRecipe(33), "seed")
    batch = samples.batch([Pick(2, 0), Pick(2, 1), Pick(2, 0)])
    assert batch.photos.shape == (3, 3, 33, 33)
    assert batch.labels.shape == (3, 33, 33)
    assert set(batch.labels.unique().tolist()) == {0, 1, 255}
    assert torch.equal(batch.photos[0], batch.photos[2])
    assert not torch.equal(batch.photos[0], batch.photos[1])


def test_the_bank_gives_the_same_labels_as_its_views(tmp_path):
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    encoder = Encoder("resnet18", weights="none").freeze()
    bank = FeatureBank(tmp_path / "bank", dataset, encoder, ViewRecipe(33), 2, 0)
    bank.fill([4, 6])
    samples = BankSamples(bank, [4, 6], look_up([7]))
    assert len(samples) == 2
    batch = samples.batch([Pick(1, 3)])
    assert batch.photos is None
    assert batch.features.dtype == torch.float32
    _, masks = bank.read([6], [1])
    assert torch.equal(batch.labels == 1, torch.from_numpy(masks == 7))
    assert torch.equal(batch.labels == 255, torch.from_numpy(masks >= 254))
