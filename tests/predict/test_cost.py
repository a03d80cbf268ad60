"""What predictions cost; `recallseg bench predict` measures their speed."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

PEAK = """
import resource, sys
from recallseg.predict.predictor import Predictor
mask = Predictor.open(sys.argv[1]).predict(sys.argv[2]).mask
print(mask.shape, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
"""


def peak_mb(run, photo, shape):
    words = [sys.executable, "-W", "error", "-c", PEAK, run, photo]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found, _, memory = told.rpartition(" ")
    assert found == str(shape)
    return float(memory)


@pytest.mark.slow
def test_a_huge_photo_takes_little_more_memory_than_a_small_one(learned, tmp_path):
    """12,000 × 9,000 px: Pillow holds 412 MiB of it and the mask takes 103 MiB."""
    noise = np.random.default_rng(0).integers(0, 256, (90, 120, 3)).astype(np.uint8)
    small = Image.fromarray(noise).resize((1000, 1000))
    small.save(tmp_path / "small.jpg")
    Image.fromarray(noise).resize((12_000, 9_000)).save(tmp_path / "huge.jpg")
    before = peak_mb(learned / "plain", tmp_path / "small.jpg", (1000, 1000))
    after = peak_mb(learned / "plain", tmp_path / "huge.jpg", (9_000, 12_000))
    assert after - before < 1500
