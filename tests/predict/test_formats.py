import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from recallseg.data.palette import voc_palette
from recallseg.data.rle import rle_string, run_lengths
from recallseg.predict.formats import save_png
from recallseg.predict.prediction import ClassScore, Prediction
from recallseg.predict.writers.coco import coco_annotations

NAMES = ("background", "cat", "Ätna <b>")


@pytest.fixture
def prediction():
    mask = np.zeros((4, 6), dtype=np.uint8)
    mask[1:3, 2:5] = 2
    mask[3, 0] = 1
    scores = [(0, 17), (2, 6), (1, 1)]
    return Prediction(mask, NAMES, tuple(ClassScore(NAMES[c], c, n / 24, 0.9) for c, n in scores))


def decoded(text, height, width):
    """COCO's compressed counts, read as its documentation tells: an independent decoder."""
    counts, place = [], 0
    while place < len(text):
        value = shift = 0
        while True:
            code = ord(text[place]) - 48
            value |= (code & 0x1F) << shift
            place, shift = place + 1, shift + 5
            if not code & 0x20:
                break
        if code & 0x10:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
    flat = np.repeat(np.arange(len(counts)) % 2, counts)
    return flat.reshape(width, height).T.astype(bool)


def test_run_lengths_go_down_the_columns_and_begin_with_misses():
    assert run_lengths(np.array([[0, 1], [0, 1], [1, 0]], dtype=bool)) == [2, 3, 1]
    assert run_lengths(np.array([[1, 0]], dtype=bool)) == [0, 1, 1]
    assert run_lengths(np.zeros((2, 2), dtype=bool)) == [4]


def test_the_string_of_a_known_mask():
    """6 → '6'; 40 = 8 + 32·1 → 8|32 = 40 → 'X', then 1 → '1'; the fourth is 7 − 40 = −33."""
    assert rle_string([6, 40]) == "6X1"
    assert rle_string([6, 40, 3, 7]) == "6X13oN"


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=40)))
@settings(deadline=None, max_examples=200)
def test_compressed_counts_come_back(mask):
    found = decoded(rle_string(run_lengths(mask)), *mask.shape)
    np.testing.assert_array_equal(found, mask)


@given(st.lists(st.integers(1, 10**8), min_size=1, max_size=6))
def test_long_runs_come_back(counts):
    text, read, place = rle_string(counts), [], 0
    while place < len(text):
        value = shift = 0
        more = True
        while more:
            code = ord(text[place]) - 48
            value |= (code & 31) << shift
            more, place, shift = bool(code & 32), place + 1, shift + 5
        value -= (1 << shift) if code & 16 else 0
        read.append(value + (read[-2] if len(read) > 2 else 0))
    assert read == counts


def test_a_png_has_the_colours_and_knows_the_names(prediction, tmp_path):
    save_png(tmp_path / "a.png", prediction)
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode == "P"
        np.testing.assert_array_equal(np.array(image), prediction.mask)
        assert tuple(json.loads(image.info["recallseg:classes"])) == NAMES
        colours = np.array(image.convert("RGB"))
    np.testing.assert_array_equal(colours, voc_palette()[prediction.mask])


def test_coco_has_an_annotation_for_each_class_but_the_background(prediction):
    large, small = coco_annotations(prediction)
    assert (large["category_id"], large["area"], large["bbox"]) == (2, 6, [2, 1, 3, 2])
    assert (small["category_id"], small["area"], small["bbox"]) == (1, 1, [0, 3, 1, 1])
    for annotation in (large, small):
        mask = decoded(annotation["segmentation"]["counts"], *annotation["segmentation"]["size"])
        np.testing.assert_array_equal(mask, prediction.mask == annotation["category_id"])
