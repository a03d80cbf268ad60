"""From vector drawings to pixels: light, texture, shadow, and what is in front of what."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from recallseg.data.dataset import Mask
from recallseg.data.toy.canvas import Canvas
from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import Colour, Pen, Thing
from recallseg.labels import VOID

FINE = 3
"""Everything is drawn larger by this factor and then reduced, which smooths its edges."""
SOLID = 128
"""A pixel belongs to what covers it by half or more."""

Pixels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Style:
    """How a picture of the world looks, whatever is in it."""

    key: int
    """Part of the random seed, so that styles do not share their random numbers."""
    paints: tuple[Colour, ...]
    relief: int = 90
    """How strongly edges catch the light from the upper left, out of 256."""
    grain: int = 100
    """How rough surfaces are, in percent of what they are by themselves."""
    shadow: int = 110
    tone: Colour = (256, 256, 256)
    """What red, green and blue are multiplied with, out of 256."""
    fade: int = 0
    """How far contrast is taken back, out of 256."""
    vignette: int = 0


@dataclass(frozen=True)
class Spot:
    """Where a thing stands: its height and the middle of its foot, in pixels."""

    x: float
    ground: float
    height: float
    mirror: bool = False
    turn: float = 0
    floats: bool = False
    """It casts no shadow on the ground."""


class Picture:
    """A picture in the making: its pixels, and the number of the nearest thing at each.

    Surfaces take their random numbers from `film`, so that the things are the same at every size.
    """

    def __init__(self, backdrop: Image.Image, style: Style, film: Dice) -> None:
        self.style, self.film = style, film
        self.pixels: Pixels = np.asarray(backdrop, dtype=np.int32).copy()
        self.nearest: Mask = np.zeros(self.pixels.shape[:2], dtype=np.uint8)
        self.labels = [0]

    def add(self, thing: Thing, spot: Spot, label: int, dice: Dice) -> None:
        """Put a thing in front of all that is there; with label 0 it is background itself."""
        layer, left, top = _layer(thing, spot, self.style, dice)
        if not spot.floats:
            self._cast(spot, thing.aspect)
        colours, alpha = _lit(layer, thing.grain, self.style, self.film)
        here, there = _overlap(left, top, alpha.shape, self.nearest.shape)
        coverage = alpha[there]
        self._blend(here, colours[there], coverage)
        self.nearest[here][coverage >= SOLID] = len(self.labels) if label else 0
        if label:
            self.labels.append(label)

    def _cast(self, spot: Spot, aspect: float) -> None:
        """A soft shadow where the thing meets the ground."""
        across, down = 0.5 * aspect * spot.height, max(2.0, 0.055 * spot.height)
        pad = int(0.06 * spot.height) + 3
        size = (2 * (int(across) + pad), 2 * (int(down) + pad))
        shadow = np.zeros(size[::-1], dtype=np.uint8)
        shadow[pad:-pad, pad:-pad] = self.style.shadow
        soft = Image.fromarray(shadow).filter(
            ImageFilter.GaussianBlur(max(1.5, 0.05 * spot.height))
        )
        alpha = np.asarray(soft, dtype=np.int32)
        left, top = int(spot.x) - size[0] // 2, int(spot.ground - 0.2 * down) - size[1] // 2
        here, there = _overlap(left, top, alpha.shape, self.nearest.shape)
        self._blend(here, np.array((24, 22, 40), dtype=np.int32), alpha[there])

    def _blend(self, here: tuple[slice, slice], colours: Pixels, alpha: Pixels) -> None:
        below = self.pixels[here]
        below += (colours - below) * alpha[..., None] // 255

    def photo(self) -> npt.NDArray[np.uint8]:
        """The finished picture, (H, W, 3), in the style's tone and with the grain of a film."""
        height, width = self.nearest.shape
        pixels: Pixels = self.pixels * np.array(self.style.tone, dtype=np.int32) // 256
        pixels += (128 - pixels) * self.style.fade // 256
        if self.style.vignette:
            down = np.abs(np.arange(height) * 2 - height) * 256 // height
            across = np.abs(np.arange(width) * 2 - width) * 256 // width
            dark = (down[:, None] ** 2 + across[None] ** 2) * self.style.vignette // 2**17
            pixels = pixels * (256 - dark[..., None]) // 256
        film = self.film.noise(height, width).astype(np.int32)[..., None] * 9 // 256 - 4
        whole: npt.NDArray[np.uint8] = np.clip(pixels + film, 0, 255).astype(np.uint8)
        return whole

    def mask(self) -> Mask:
        """The label at each pixel; void where something nearer is next door, one pixel wide."""
        padded = np.pad(self.nearest, 1, mode="edge")
        around = (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:])
        border = np.maximum.reduce(around) > self.nearest
        labels: Mask = np.array(self.labels, dtype=np.uint8)[self.nearest]
        labels[border] = VOID
        return labels


def backdrop_pen(size: tuple[int, int], style: Style) -> Pen:
    """A pen on an empty canvas, enlarged; its unit is the picture's height."""
    scale = float(size[1] * FINE)
    canvas = Canvas(size[0] * FINE, size[1] * FINE)
    return Pen(canvas, (scale, 0, 0, 0, scale, 0), style.paints)


def developed(canvas: Canvas, film: Dice, rough: int = 7) -> Image.Image:
    """An enlarged backdrop at its own size, with a cloudy texture over it."""
    small = canvas.image().convert("RGB").reduce(FINE)
    coarse = Image.fromarray(film.noise(small.height // 6 + 2, small.width // 6 + 2))
    clouds = coarse.resize(small.size, Image.Resampling.BICUBIC)
    fine = film.noise(small.height, small.width).astype(np.int32) - 128
    wave = (np.asarray(clouds, dtype=np.int32) - 128) + fine // 3
    pixels = np.asarray(small, dtype=np.int32) + wave[..., None] * rough // 128
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _layer(thing: Thing, spot: Spot, style: Style, dice: Dice) -> tuple[Image.Image, int, int]:
    """The thing alone, smooth, and where its layer begins in the picture."""
    margin = int((0.18 + 3.3 * abs(spot.turn) * thing.aspect) * spot.height) + 3
    width = int(thing.aspect * spot.height) + 2 * margin
    height = int((1 + thing.below) * spot.height) + 2 * margin
    layer = Canvas(width * FINE, height * FINE)
    scale = spot.height * FINE
    pen = Pen(layer, (1, 0, 0, 0, 1, 0), style.paints)
    foot = (width * FINE / 2, (margin + spot.height) * FINE)
    middle = pen.at(*foot, scale, turn=spot.turn, mirror=spot.mirror)
    thing.draw(middle.at(-thing.aspect / 2, -1), dice)
    left, top = int(spot.x) - width // 2, int(spot.ground) - margin - int(spot.height)
    small = layer.image().reduce(FINE)
    box = small.getbbox() or (0, 0, 1, 1)
    return small.crop(box), left + box[0], top + box[1]


def _lit(layer: Image.Image, grain: int, style: Style, film: Dice) -> tuple[Pixels, Pixels]:
    """Colours (h, w, 3) under the light and with a surface, and coverage (h, w)."""
    colours = np.asarray(layer.convert("RGB"), dtype=np.int32)
    alpha = layer.getchannel("A")
    height, width = colours.shape[:2]
    reach = max(1, min(height, width) // 24)
    padded = Image.new("L", (width + 2 * reach, height + 2 * reach))
    padded.paste(alpha, (reach, reach))
    soft = np.asarray(padded.filter(ImageFilter.GaussianBlur(1.5 * reach)), dtype=np.int32)
    edge = soft[2 * reach :, 2 * reach :] - soft[: -2 * reach, : -2 * reach]
    light = edge * style.relief // 512 + (14 - 34 * np.arange(height) // height)[:, None]
    rough = film.noise(height, width).astype(np.int32) - 128
    tufts = Image.fromarray(film.noise(height // 2 + 1, width // 2 + 1)).resize(
        (width, height), Image.Resampling.BILINEAR
    )
    rough += 2 * (np.asarray(tufts, dtype=np.int32) - 128)
    light = light + rough * grain * style.grain // (100 * 256)
    return np.clip(colours + light[..., None], 0, 255), np.asarray(alpha, dtype=np.int32)


def _overlap(
    left: int, top: int, part: tuple[int, ...], whole: tuple[int, ...]
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """The region that a part covers of the whole, in the whole's pixels and in its own."""
    y0, y1 = max(0, top), max(0, min(whole[0], top + part[0]))
    x0, x1 = max(0, left), max(0, min(whole[1], left + part[1]))
    y1, x1 = max(y0, y1), max(x0, x1)
    return (slice(y0, y1), slice(x0, x1)), (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
