"""Datasets of other tools come in whole: the drawn masks, the splits, and a count of the rest."""

import numpy as np
import pytest
from commands import recallseg
from foreign import WRITERS, assert_alike, draw

from recallseg.data import open_dataset
from recallseg.data.check import check_dataset


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    return draw(tmp_path_factory.mktemp("drawn") / "world")


@pytest.mark.parametrize("name", WRITERS)
def test_masks_are_the_drawn_ones(name, drawn, tmp_path):
    source = WRITERS[name](tmp_path / "theirs", drawn)
    done = recallseg("data", "import", source, tmp_path / "ours")
    assert done.returncode == 0, done.stderr
    assert f"from {name}, 4 in train, 2 in val" in done.stdout
    assert check_dataset(tmp_path / "ours").defects == ()
    for split, dataset in drawn.items():
        ours = open_dataset("folder", split, tmp_path / "ours")
        assert [pair.stem for pair in ours.pairs] == [pair.stem for pair in dataset.pairs]
        assert set(ours.classes) == set(dataset.classes)
        back = ours.renamed(dataset.classes, other=99)
        for row in range(len(dataset)):
            photo, mask = back.read(row)
            expected_photo, expected = dataset.read(row)
            assert_alike(mask, expected)
            np.testing.assert_array_equal(np.array(photo), np.array(expected_photo))
