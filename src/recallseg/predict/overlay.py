"""A photo with its classes laid over it, to be told apart without telling red from green.

Colours repeat after eight classes; then stripes tell them apart. Edges are drawn in full colour and
the names are written on the picture. The page of `serve` draws by the same rules.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from recallseg.data.dataset import Mask
from recallseg.data.palette import OVERLAY_COLOURS

OPACITY = 0.6
GAP = 0.35
"""Between stripes, the opacity is this part of what it is on them."""
LABELLED_SHARE = 0.01
"""Smaller classes have no room for their name on the picture."""


def overlay(
    photo: Image.Image,
    mask: Mask,
    class_names: Sequence[str],
    *,
    opacity: float = OPACITY,
    names: bool = True,
) -> Image.Image:
    """The photo under the classes of its mask (H, W); the background stays as it is.

    `opacity` goes from 0, where only edges and names are left, to 1.
    """
    veil = np.where(_gaps(mask), np.uint8(255 * opacity * GAP), np.uint8(255 * opacity))
    veil[_edges(mask)] = 255
    veil[mask == 0] = 0
    colours = Image.fromarray(mask)
    colours.putpalette(class_colours().tobytes())
    shown = photo.convert("RGB")  # always a copy
    shown.paste(colours.convert("RGB"), mask=Image.fromarray(veil))
    if names:
        _write_names(shown, mask, class_names)
    return shown


def class_colours() -> npt.NDArray[np.uint8]:
    """The (256, 3) colours of channels on a photo; that of the background is never seen."""
    places = (np.arange(256) - 1) % len(OVERLAY_COLOURS)
    return np.asarray(OVERLAY_COLOURS, dtype=np.uint8)[places]


def _gaps(mask: Mask) -> npt.NDArray[np.bool_]:
    """Whether a pixel lies between the stripes of its class (H, W); the first eight have none."""
    height, width = mask.shape
    rows, columns = np.arange(height)[:, None], np.arange(width)[None]
    half = stripe_width(mask.shape)
    places = (rows + columns, rows - columns, rows, columns, rows // half * half + columns)
    rounds = (np.arange(256) - 1) // len(OVERLAY_COLOURS) % (1 + len(places))
    gaps = np.zeros(mask.shape, dtype=bool)
    for number in set(rounds[np.unique(mask)].tolist()) - {0, -1}:
        gaps |= (rounds == number)[mask] & (places[number - 1] // half % 2 == 1)
    return gaps


def stripe_width(shape: tuple[int, ...]) -> int:
    """How wide stripes are on a picture of some height and width."""
    return max(3, max(shape) // 96)


def _edges(mask: Mask) -> npt.NDArray[np.bool_]:
    """The pixels whose right or lower neighbour has another class, and those neighbours."""
    edges = np.zeros(mask.shape, dtype=bool)
    for one, other in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])):
        differs = mask[one] != mask[other]
        edges[one] |= differs
        edges[other] |= differs
    return edges


def _write_names(picture: Image.Image, mask: Mask, class_names: Sequence[str]) -> None:
    """Write each class's name where its longest row of pixels is."""
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(max(10, max(picture.size) // 40))
    for channel in np.unique(mask[mask > 0]).tolist():
        hits = mask == channel
        if hits.mean() >= LABELLED_SHARE:
            left, top, right, bottom = draw.textbbox((0, 0), class_names[channel], font, "mm")
            across, down = _middle(hits)
            x = max(4 - left, min(across, picture.width - 4 - right))
            y = max(3 - top, min(down, picture.height - 3 - bottom))
            draw.rectangle((x + left - 3, y + top - 2, x + right + 3, y + bottom + 2), (16, 17, 20))
            draw.text((x, y), class_names[channel], "white", font, "mm")


def _middle(hits: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """The (x, y) in the middle of the longest horizontal run."""
    padded = np.pad(hits, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest] + ends[longest]) // 2, int(rows[longest])
