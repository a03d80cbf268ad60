import errno
import json
import os
from random import Random

import numpy as np
import pytest
import torch
from drawn import whole_voc

from recallseg.data import open_dataset
from recallseg.data.transforms import ViewRecipe, to_tensors
from recallseg.errors import RecallsegError
from recallseg.model import Encoder
from recallseg.model.bank import DiskBudget, FeatureBank, bytes_on_disk
from recallseg.model.native_bank import NativeBank


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    return Encoder("resnet18", weights="none", finest=8).freeze()


@pytest.fixture
def dataset(tmp_path):
    return open_dataset("voc", "train", whole_voc(tmp_path / "voc"))


def bank_of(folder, dataset, encoder, **changed):
    settings = {"recipe": ViewRecipe(33), "views": 2, "seed": 0} | changed
    return FeatureBank(folder, dataset, encoder, **settings)


def test_stored_features_are_those_of_the_stored_views(tmp_path, dataset, encoder):
    bank = bank_of(tmp_path / "bank", dataset, encoder)
    bank.fill([3, 5])
    features, masks = bank.read([5, 3, 5], [0, 1, 1])
    photo, stem = to_tensors(*dataset.read(5)), dataset.pairs[5].stem
    cuts = [ViewRecipe(33)(*photo, Random(f"0/{stem}/{view}")) for view in (0, 1)]
    views, labels = map(torch.stack, zip(*cuts, strict=True))
    assert features.dtype == torch.float16
    one_by_one = torch.cat([encoder(view[None]) for view in views])
    assert torch.equal(features[[0, 2]], one_by_one.to(torch.float16))
    np.testing.assert_array_equal(masks[[0, 2]], labels.numpy())
    assert not torch.equal(features[0], features[2])


def test_content_does_not_depend_on_the_order_of_filling(tmp_path, dataset, encoder):
    one, two = (bank_of(tmp_path / name, dataset, encoder) for name in "ab")
    one.fill([1, 2, 3])
    two.fill([3])
    two.fill([2, 1])
    picked = ([1, 2, 3], [0, 1, 0])
    assert torch.equal(one.read(*picked)[0], two.read(*picked)[0])


def test_only_what_is_missing_is_encoded(tmp_path, dataset, encoder):
    encoded = []
    bank = bank_of(tmp_path, dataset, encoder)
    bank.fill([1, 2])
    again = bank_of(tmp_path, dataset, encoder)
    assert again.missing([1, 2, 4]) == [4]
    again.fill([1, 2, 4], encoded.append)
    assert encoded == [1]


def test_the_key_covers_all_that_features_depend_on(tmp_path, dataset, encoder):
    other = Encoder("resnet18", weights="none", finest=8).freeze()
    banks = [
        bank_of(tmp_path, dataset, encoder),
        bank_of(tmp_path, dataset, other),
        bank_of(tmp_path, dataset, encoder, seed=1),
        bank_of(tmp_path, dataset, encoder, views=3),
        bank_of(tmp_path, dataset, encoder, recipe=ViewRecipe(35)),
        bank_of(tmp_path, dataset, encoder, recipe=ViewRecipe(33, label_stride=2)),
        bank_of(tmp_path, dataset, encoder, recipe=ViewRecipe(33, scale=(1, 1))),
        bank_of(tmp_path, dataset.subset(["t01"]), encoder),
    ]
    assert len({bank.folder for bank in banks}) == len(banks)
    assert bank_of(tmp_path, dataset, encoder).folder == banks[0].folder


def test_a_bank_takes_the_space_it_says_and_no_more(tmp_path, dataset, encoder):
    bank = bank_of(tmp_path, dataset, encoder, recipe=ViewRecipe(65, label_stride=4), views=4)
    bank.fill([0, 1])
    per_photo = 4 * (2 * (128 + 256 + 512) * 10 * 10 + 16 * 16)
    assert bank.bytes_per_photo == per_photo
    assert 2 * per_photo <= bytes_on_disk(bank.folder) <= 2 * per_photo + 12 * 4096
    assert json.loads((bank.folder / "about.json").read_text())["views"] == 4


def test_a_budget_is_not_exceeded(tmp_path):
    (tmp_path / "old").write_bytes(b"x" * 8192)
    budget = DiskBudget(tmp_path, 20_000)
    assert budget.take(10_000)
    assert not budget.take(2_000)
    assert budget.take(500, count=5) == 3
    (tmp_path / "old").unlink()
    budget.recount()
    assert budget.left == 20_000


def test_a_part_of_a_budget_spends_the_whole(tmp_path):
    whole = DiskBudget(tmp_path, 10_000)
    part = DiskBudget(tmp_path, 4_000, "*.safetensors", within=whole)
    assert part.take(1_000, count=9) == 4
    assert whole.left == 6_000
    part.recount()
    assert whole.take(5_000)
    assert part.take(1_000, count=9) == 1


def test_a_full_disk_is_a_sentence_and_not_the_end_of_the_process(
    tmp_path, dataset, encoder, monkeypatch
):
    bank = bank_of(tmp_path / "bank", dataset, encoder)
    bank.fill([0])

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RecallsegError, match=r"is full; free some space"):
        bank.fill([0, 1])
    assert bank.missing([0, 1]) == [1]


def test_features_too_large_for_half_precision_are_refused(tmp_path, dataset):
    encoder = Encoder("resnet18", weights="none")
    for parameter in encoder.body.parameters():
        parameter.data *= 50
    with pytest.raises(RecallsegError, match=r"bank\.enabled=false"):
        bank_of(tmp_path, dataset, encoder.freeze()).fill([0])


def test_native_features_are_exact_and_kept_while_there_is_room(tmp_path, dataset, encoder):
    photo = to_tensors(*dataset.read(0))[0].as_subclass(torch.Tensor)[None]
    fresh = encoder(photo)
    budget = DiskBudget(tmp_path / "bank", fresh.nbytes)
    bank = NativeBank(tmp_path / "bank", dataset, encoder, budget)
    for _ in range(2):
        assert torch.equal(bank.features(0, photo), fresh)
    assert len(list(bank.folder.iterdir())) == 1
    bank.features(1, photo)
    assert len(list(bank.folder.iterdir())) == 1


def test_a_folder_in_the_place_of_native_features_gives_way(tmp_path, dataset, encoder):
    photo = to_tensors(*dataset.read(0))[0].as_subclass(torch.Tensor)[None]
    bank = NativeBank(tmp_path / "bank", dataset, encoder, DiskBudget(tmp_path / "bank", 10**9))
    place = bank.folder / "000000.safetensors"
    (place / "something").mkdir(parents=True)
    assert torch.equal(bank.features(0, photo), encoder(photo))
    assert place.is_file()
