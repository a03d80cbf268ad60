from random import Random

import numpy as np
import torch
from drawn import draw_pair
from hypothesis import given, settings
from hypothesis import strategies as st

from recallseg.data.transforms import ViewRecipe, random_part, to_tensors
from recallseg.labels import PADDING


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 60),
    height=st.integers(1, 60),
    crop=st.integers(1, 50),
    seed=st.integers(0, 10**6),
)
def test_a_view_has_its_size_and_no_label_that_was_not_there(width, height, crop, seed):
    rng = np.random.default_rng(seed)
    mask = rng.choice(np.array([0, 3, 20, 255], dtype=np.uint8), (height, width))
    photo, labels = to_tensors(*_photo_of(mask))
    view, cut = ViewRecipe(crop)(photo, labels, Random(seed))
    assert view.shape == (3, crop, crop)
    assert view.dtype == cut.dtype == torch.uint8
    assert cut.shape == (crop, crop)
    assert set(cut.unique().tolist()) <= {*np.unique(mask).tolist(), PADDING}


def _photo_of(mask):
    from PIL import Image

    return Image.fromarray(np.stack([mask] * 3, axis=-1)), mask


def test_photo_and_mask_move_together():
    mask = np.full((40, 30), 7, dtype=np.uint8)
    recipe = ViewRecipe(64, scale=(0.6, 1.4), padding=(1, 2, 3))
    for seed in range(20):
        view, cut = recipe(*to_tensors(*_photo_of(mask)), Random(seed))
        outside = cut == PADDING
        assert outside.any()
        assert (torch.tensor([1, 2, 3], dtype=torch.uint8) == view[:, outside].T).all()
        assert (view[:, ~outside] == 7).all()


def test_without_scaling_a_view_is_the_photo_or_its_mirror():
    photo, mask = draw_pair([1, 2], size=(20, 20))
    pixels, labels = to_tensors(photo, mask)
    kinds = set()
    for seed in range(20):
        view, cut = ViewRecipe(20, scale=(1.0, 1.0))(pixels, labels, Random(seed))
        mirrored = not torch.equal(cut, labels)
        expected = (pixels.flip(-1), labels.flip(-1)) if mirrored else (pixels, labels)
        assert torch.equal(view, expected[0])
        assert torch.equal(cut, expected[1])
        kinds.add(mirrored)
    assert kinds == {True, False}


def test_a_view_is_a_function_of_its_seed():
    pixels, labels = to_tensors(*draw_pair([1, 2], size=(50, 40)))
    recipe = ViewRecipe(32)
    torch.manual_seed(0)
    first = recipe(pixels, labels, Random("a/1"))
    torch.manual_seed(1)
    again = recipe(pixels, labels, Random("a/1"))
    other = recipe(pixels, labels, Random("a/2"))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert not torch.equal(first[0], other[0])


def test_labels_may_be_kept_at_every_nth_pixel():
    pixels, labels = to_tensors(*draw_pair([1, 2], size=(50, 40)))
    whole = ViewRecipe(33)(pixels, labels, Random(5))
    sparse = ViewRecipe(33, label_stride=4)
    view, kept = sparse(pixels, labels, Random(5))
    assert torch.equal(view, whole[0])
    assert torch.equal(kept, whole[1][2::4, 2::4])
    assert kept.shape == (sparse.label_size, sparse.label_size) == (8, 8)


def test_a_scaled_mask_lies_where_the_scaled_photo_does():
    """Black and white halves of a photo: where the photo turns white, the label changes."""
    mask = np.zeros((40, 40), dtype=np.uint8)
    mask[:, 20:] = mask[20:] = 1
    photo, labels = to_tensors(*_photo_of(255 * mask))
    labels = labels // 255
    for seed in range(20):
        view, cut = ViewRecipe(90, scale=(1.5, 2.2))(photo, labels, Random(seed))
        inside = cut != PADDING
        white = (view[0] > 127)[inside]
        differ = white != (cut[inside] == 1)
        assert differ.sum() <= 2, "photo and label part by more than a rounding"


def test_a_stretched_view_is_a_part_of_the_photo_and_has_no_padding():
    rows = np.repeat(np.arange(40, dtype=np.uint8)[:, None], 60, axis=1)
    photo, labels = to_tensors(*_photo_of(rows))
    recipe = ViewRecipe(32, (0.5, 2.0), cut="stretched")
    heights = set()
    for seed in range(30):
        view, cut = recipe(photo, labels, Random(seed))
        assert view.shape == (3, 32, 32)
        assert PADDING not in cut
        assert (view[0].float() - cut.float()).abs().max() <= 2
        heights.add(int(cut.max()) - int(cut.min()) + 1)
    assert len(heights) > 5
    mirrored = [recipe(*to_tensors(*_photo_of(rows.T.copy())), Random(s))[1][0] for s in range(20)]
    assert {bool(row[0] > row[-1]) for row in mirrored} == {True, False}


def test_parts_keep_to_their_area_and_ratio():
    for seed in range(200):
        part = random_part(300, 400, (0.3, 0.6), Random(seed))
        assert part.top + part.height <= 300
        assert part.left + part.width <= 400
        assert 0.29 <= part.height * part.width / 120_000 <= 0.61
        assert 0.74 <= part.width / part.height <= 1.35


def test_where_no_part_fits_it_is_the_middle():
    assert random_part(100, 400, (1.5, 2.0), Random(0)) == (0, 133, 100, 133)
    assert random_part(400, 100, (1.5, 2.0), Random(0)) == (133, 0, 133, 100)
    assert random_part(90, 100, (1.5, 2.0), Random(0)) == (0, 0, 90, 100)
