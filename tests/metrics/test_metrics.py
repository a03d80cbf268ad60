import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recallseg.metrics.confusion import ConfusionMatrix
from recallseg.metrics.scores import CONVENTIONS, iou, mean_iou, pixel_accuracy

# The supplement's per-class table, disjoint: background first, then the 20 classes.
PER_CLASS = {
    "15-1 Web": "90.5 82.1 34.4 81.5 62.6 76.0 82.3 77.0 85.1 27.4 63.6 39.4 80.3 71.9 72.2 78.4 "
    "35.4 64.4 35.7 61.9 48.7",
    "10-1 Web": "89.1 79.1 31.0 74.4 62.2 66.5 81.7 74.1 78.7 19.4 56.2 41.8 62.7 58.5 62.1 66.6 "
    "8.5 59.3 36.8 59.2 45.0",
}
TABLE_1 = {"15-1 Web": (15, 67.6, 49.2, 64.3), "10-1 Web": (10, 62.3, 50.0, 57.8)}


@pytest.mark.parametrize("row", PER_CLASS)
def test_the_papers_own_arithmetic(row):
    values = np.array([float(value) for value in PER_CLASS[row].split()])
    first, old, new, everything = TABLE_1[row]
    means = mean_iou(values, range(1, first + 1), range(first + 1, 21))
    assert means["old"] == pytest.approx(old, abs=0.06)
    assert means["new"] == pytest.approx(new, abs=0.06)
    assert means["all"] == pytest.approx(everything, abs=0.06)


def independent_miou(prediction, truth, classes):
    """Per class, over sets of pixels, with no confusion matrix."""
    values = []
    counted = truth != 255
    for c in range(classes):
        inter = np.sum((prediction == c) & (truth == c) & counted)
        union = np.sum(((prediction == c) | (truth == c)) & counted)
        meant = union and (c > 0 or np.any(truth == 0))
        values.append(inter / union if meant else np.nan)
    return np.array(values)


def test_a_background_that_the_truth_lacks_is_left_out_of_every_mean():
    """Three pixels of class 1 and one of 2; one of each is taken for background."""
    counts = np.array([[0, 0, 0], [1, 2, 0], [1, 0, 0]])
    values = iou(counts)
    assert np.isnan(values[0])
    assert values[1:].tolist() == [2 / 3, 0]
    means = mean_iou(values, [1], [2])
    assert means["all"] == means["foreground"] == pytest.approx(1 / 3)
    assert means["old_with_background"] == means["old"] == 2 / 3
    counts[0, 1] = 1
    assert iou(counts).tolist() == [0, 2 / 4, 0]


@settings(max_examples=60, deadline=None)
@given(classes=st.integers(2, 7), seed=st.integers(0, 10**6), batches=st.integers(1, 4))
def test_iou_equals_an_independent_computation(classes, seed, batches):
    rng = np.random.default_rng(seed)
    shape = (batches, 2, 5, 6)
    present = rng.choice(classes, size=max(1, classes - 1), replace=False)
    truth = rng.choice([*present, 255], shape).astype(np.uint8)
    prediction = rng.choice(present, shape).astype(np.uint8)
    metric = ConfusionMatrix(classes)
    for predicted, true in zip(prediction, truth, strict=True):
        metric.update(torch.from_numpy(predicted), torch.from_numpy(true))
    counts = metric.counts()
    expected = independent_miou(prediction, truth, classes)
    np.testing.assert_allclose(iou(counts), expected, rtol=1e-12)
    assert counts.sum() == (truth != 255).sum()
    if (~np.isnan(expected)).any():
        means = mean_iou(iou(counts), [1], range(2, classes))
        assert means["all"] == pytest.approx(np.nanmean(expected))


def test_scores_by_hand():
    counts = np.array([[6, 2, 0, 0], [1, 3, 0, 0], [0, 0, 0, 0], [4, 0, 0, 0]])
    np.testing.assert_allclose(iou(counts), [6 / 13, 3 / 6, np.nan, 0 / 4])
    np.testing.assert_allclose(pixel_accuracy(counts), [6 / 8, 3 / 4, np.nan, 0])
    means = mean_iou(iou(counts), old=[1, 2], new=[3])
    assert means == {
        "old": pytest.approx(0.5),
        "new": pytest.approx(0.0),
        "all": pytest.approx((6 / 13 + 0.5 + 0) / 3),
        "foreground": pytest.approx(0.25),
        "old_with_background": pytest.approx((6 / 13 + 0.5) / 2),
    }
    assert tuple(means) == CONVENTIONS


def test_a_class_that_is_nowhere_is_left_out_and_a_mean_over_nothing_is_nan():
    means = mean_iou(np.array([0.8, np.nan, 0.4]), old=[1], new=[])
    assert np.isnan(means["old"])
    assert np.isnan(means["new"])
    assert means["all"] == pytest.approx(0.8)
