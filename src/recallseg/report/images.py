"""Pictures as `data:` addresses, so that a page needs no other file."""

import base64
from io import BytesIO

from PIL import Image

from recallseg.data.dataset import Mask
from recallseg.data.palette import voc_palette


def photo_address(photo: Image.Image) -> str:
    """A photo as a JPEG."""
    return _address(photo, "jpeg", quality=82)


def mask_address(mask: Mask) -> str:
    """A mask in VOC's colours, with a background that lets the photo through."""
    image = Image.fromarray(mask)
    image.putpalette(voc_palette().tobytes())
    return _address(image, "png", transparency=0)


def colour(channel: int) -> str:
    """A class's colour as CSS writes it."""
    return "#{:02x}{:02x}{:02x}".format(*voc_palette()[channel])


def _address(image: Image.Image, kind: str, **options: int) -> str:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode()}"
