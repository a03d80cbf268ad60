from collections import Counter
from dataclasses import replace

import numpy as np
import torch
from drawn import whole_voc

from recallseg.data import open_dataset
from recallseg.data.dataset import Pair, SegmentationDataset
from recallseg.data.shrink import save_mask
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.samples.sets import BankSamples, PhotoSamples, Pick, samples_of
from recallseg.engine.samples.streams import Shuffled
from recallseg.labels import PADDING
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


def partly_stored(tmp_path, encoder):
    """The same four photos twice: all of them stored, and only the second and the fourth."""
    dataset = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    rows, table = [4, 6, 9, 11], look_up([5, 7, 10, 12])
    banks = [FeatureBank(tmp_path / name, dataset, encoder, ViewRecipe(33), 2, 0) for name in "ab"]
    banks[0].fill(rows)
    banks[1].fill([6, 11])
    return [samples_of(bank, rows, table) for bank in banks]


def test_photos_that_are_not_stored_join_the_others_as_the_same_features(tmp_path):
    encoder = Encoder("resnet18", weights="none").freeze()
    stored, partly = partly_stored(tmp_path, encoder)
    assert isinstance(stored, BankSamples)
    assert len(partly) == 4
    picks = [Pick(0, 0), Pick(3, 1), Pick(2, 3), Pick(1, 0), Pick(0, 1)]
    expected, batch = stored.batch(picks), partly.batch(picks)
    assert batch.photos is None
    assert not batch.features.requires_grad
    assert torch.equal(batch.features, expected.features)
    assert torch.equal(batch.labels, expected.labels)


def test_only_what_is_not_stored_is_encoded(tmp_path):
    encoder = Encoder("resnet18", weights="none").freeze()
    _, partly = partly_stored(tmp_path, encoder)
    seen = []
    encoder.register_forward_hook(lambda module, given, features: seen.append(len(features)))
    partly.batch([Pick(1, 0), Pick(3, 0), Pick(1, 1)])
    assert seen == []
    partly.batch([Pick(1, 0), Pick(0, 0), Pick(2, 0)])
    assert sum(seen) == 2


def without_masks(dataset):
    return replace(dataset, pairs=tuple(Pair(pair.stem, pair.photo) for pair in dataset.pairs))


def test_a_photo_without_a_mask_is_background_wherever_it_is_not_padding(tmp_path):
    """The samples equal those of a mask file full of zeros, drawn or stored."""
    masked = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    bare = without_masks(masked)
    for row, pair in enumerate(masked.pairs):
        save_mask(pair.mask, np.zeros_like(masked.read(row)[1]))
    small = ViewRecipe(65, (0.5, 0.5))
    picks = [Pick(row, visit) for row in (1, 4) for visit in (0, 1)]
    drawn = [PhotoSamples(each, look_up([1]), small, "s").batch(picks) for each in (bare, masked)]
    assert torch.equal(drawn[0].labels, drawn[1].labels)
    assert torch.equal(drawn[0].photos, drawn[1].photos)
    assert set(drawn[0].labels.unique().tolist()) == {0, 255}
    encoder = Encoder("resnet18", weights="none").freeze()
    banks = [FeatureBank(tmp_path / "bank", each, encoder, small, 2, 0) for each in (bare, masked)]
    for bank in banks:
        bank.fill([1, 4])
    stored = [bank.read([1, 4], [0, 1]) for bank in banks]
    assert torch.equal(stored[0][0], stored[1][0])
    np.testing.assert_array_equal(stored[0][1], stored[1][1])
    assert set(np.unique(stored[0][1])) == {0, PADDING}


def test_stored_features_know_photos_without_masks_by_their_content(tmp_path):
    first = open_dataset("voc", "train", whole_voc(tmp_path / "voc"))
    copied = open_dataset("voc", "train", whole_voc(tmp_path / "copy"))
    assert without_masks(first).signature() == without_masks(copied).signature()
    assert without_masks(first).signature() != first.signature()
    one, two = first.pairs[0], first.pairs[1]
    folder = ("replay", tmp_path, "replay", ())
    apart = SegmentationDataset(*folder, (Pair("a", one.photo), Pair("b", two.photo)))
    paired = SegmentationDataset(*folder, (Pair("a", one.photo, two.photo),))
    assert apart.signature() != paired.signature()
    copied.pairs[0].photo.write_bytes(two.photo.read_bytes())
    assert without_masks(first).signature() != without_masks(copied).signature()
    assert without_masks(first).bytes_on_disk() < first.bytes_on_disk()
