"""What predictions cost: memory of huge photos, speed of many small ones."""

import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from PIL import Image

from recallseg.config import ModelConfig
from recallseg.data.dataset import read_photo
from recallseg.data.transforms import photo_tensor
from recallseg.model.building import build_model
from recallseg.predict.predictor import BATCH, Predictor

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


def batches_of(images):
    by_size = {}
    for image in images:
        by_size.setdefault(image.size, []).append(photo_tensor(image))
    return [
        torch.stack(group[start : start + BATCH])
        for group in by_size.values()
        for start in range(0, len(group), BATCH)
    ]


@pytest.mark.slow
def test_many_photos_cost_little_more_than_the_bare_model(voc_mini):
    """Reading, scoring and ordering 200 photos: at least 85 % of a loop over ready batches.

    In seconds of processors, which do not depend on what else the machine does.
    """
    paths = sorted((voc_mini / "VOC2012/JPEGImages").glob("*.jpg"))[:200]
    model = build_model(ModelConfig(weights="none", neck=256, neck_stride=16), 21).eval()
    predictor = Predictor(model, [str(number) for number in range(21)], device="cpu")
    batches = batches_of([read_photo(path) for path in paths])

    @torch.no_grad()
    def bare():
        for batch in batches:
            model(batch).logits.argmax(dim=1)

    def whole():
        assert sum(1 for _ in predictor.predict_many(paths)) == 200

    def seconds(function):
        start = time.process_time()
        function()
        return time.process_time() - start

    assert torch.get_num_threads() == 1
    seconds(bare)
    rounds = [(seconds(bare), seconds(whole)) for _ in range(3)]
    print("bare, predictor:", rounds)  # noqa: T201
    assert min(first for first, _ in rounds) / min(second for _, second in rounds) > 0.85
