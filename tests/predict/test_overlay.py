import numpy as np
import pytest
from PIL import Image
from skimage.color import rgb2lab

from recallseg.data.palette import OVERLAY_COLOURS, voc_palette
from recallseg.predict.overlay import GAP, class_colours, overlay, stripe_width

SANDY = (200, 100, 50)
SIGHT = {
    "full": np.eye(3),
    "no green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no red cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
"""On linear RGB: how Machado, Oliveira and Fernandes (2009) simulate that sight."""


def nearest(colours, sight):
    """The distance (CIE 1976) of the two colours that look most alike."""
    share = np.asarray(colours) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.asarray(SIGHT[sight]).T, 0, 1)
    encoded = np.where(seen <= 0.0031308, seen * 12.92, 1.055 * seen ** (1 / 2.4) - 0.055)
    lab = rgb2lab(encoded[None])[0]
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=-1)
    return apart[~np.eye(len(lab), dtype=bool)].min()


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_everyone(sight):
    assert nearest(OVERLAY_COLOURS, sight) > 15
    if sight != "full":
        assert nearest(voc_palette()[1 : 1 + len(OVERLAY_COLOURS)], sight) < 15


def shown(mask, **options):
    photo = Image.new("RGB", mask.shape[::-1], SANDY)
    names = ["background", *(f"class {number}" for number in range(1, 60))]
    picture = overlay(photo, mask, names, names=False, **options)
    assert photo.getpixel((20, 20)) == SANDY
    return np.asarray(picture).astype(int)


def mixed(channel, opacity):
    return np.array(SANDY) * (1 - opacity) + class_colours()[channel].astype(int) * opacity


def test_the_background_is_left_alone_and_edges_are_in_full_colour():
    mask = np.zeros((40, 60), dtype=np.uint8)
    mask[10:30, 10:40] = 2
    picture = shown(mask, opacity=0.5)
    assert picture[0, 0].tolist() == list(SANDY)
    np.testing.assert_allclose(picture[20, 20], mixed(2, 0.5), atol=2)
    assert picture[10, 10].tolist() == class_colours()[2].tolist()
    bare = shown(mask, opacity=0)
    assert bare[20, 20].tolist() == list(SANDY)
    assert bare[10, 10].tolist() == class_colours()[2].tolist()


def test_classes_of_one_colour_have_stripes_of_their_own():
    channels = [2, 10, 18, 26, 34, 42]
    assert len({tuple(class_colours()[channel]) for channel in channels}) == 1
    looks = []
    for channel in channels:
        picture = shown(np.full((96, 96), channel, dtype=np.uint8), opacity=1.0)
        looks.append(np.isclose(picture, mixed(channel, 1.0), atol=2).all(axis=-1))
        gaps = picture[~looks[-1]]
        np.testing.assert_allclose(gaps, np.broadcast_to(mixed(channel, GAP), gaps.shape), atol=2)
    assert looks[0].all()
    assert all(0.4 < look.mean() < 0.6 for look in looks[1:])
    for one in range(len(looks)):
        assert all((looks[one] != looks[other]).mean() > 0.25 for other in range(one))
    assert stripe_width((96, 96)) == 3


def test_names_are_written_on_what_they_name():
    mask = np.zeros((200, 300), dtype=np.uint8)
    mask[120:180, 150:290] = 1
    mask[0:3, 0:3] = 2
    photo = Image.new("RGB", (300, 200), SANDY)
    plain, named = (
        np.asarray(overlay(photo, mask, ["background", "cat", "dog"], names=names))
        for names in (False, True)
    )
    rows, columns = np.nonzero((plain != named).any(axis=-1))
    assert 120 - 12 < rows.min() < rows.max() < 180
    assert 200 < columns.mean() < 240
