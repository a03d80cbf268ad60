"""A prediction together with its photo: what people save, show and look at in a notebook."""

import base64
import io
import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from PIL import Image

from recallseg.errors import RecallsegError
from recallseg.files import write_json
from recallseg.predict.formats import save_overlay, save_png
from recallseg.predict.overlay import OPACITY, class_colours, overlay
from recallseg.predict.prediction import Prediction

PICTURES = (".jpg", ".jpeg", ".webp")
SHOWN_SIDE = 640
"""The longer side of the picture in a notebook, at most."""


@dataclass(frozen=True)
class Segmentation(Prediction):
    """What a model sees in a photo, with the photo."""

    photo: Image.Image = field(repr=False, compare=False)

    @classmethod
    def of(cls, prediction: Prediction, photo: Image.Image) -> "Segmentation":
        """A prediction with the photo that it was made of."""
        return cls(prediction.mask, prediction.class_names, prediction.scores, photo)

    def save(self, path: Path | str) -> Path:
        """Write the mask (`.png`), the overlay (`.jpg`, `.webp`) or the scores (`.json`)."""
        path = Path(path)
        ending = path.suffix.lower()
        if ending == ".png":
            save_png(path, self)
        elif ending in PICTURES:
            save_overlay(path, self.photo, self)
        elif ending == ".json":
            write_json(path, self.summary())
        else:
            raise RecallsegError(
                f"{path} ends in neither .png (the mask), {', '.join(PICTURES)} (the overlay) nor "
                ".json (the scores); name the file so."
            )
        return path

    def overlay(self, opacity: float = OPACITY, *, names: bool = True) -> Image.Image:
        """The photo with its classes laid over it, in colours that do not rely on red and green."""
        return overlay(self.photo, self.mask, self.class_names, opacity=opacity, names=names)

    def show(self) -> None:
        """Show the overlay: in a notebook below the cell, elsewhere in the system's viewer."""
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is not None and hasattr(shell, "kernel"):
            sys.modules["IPython"].display.display(self)
        else:
            self.overlay().show()

    def _repr_html_(self) -> str:
        """The overlay and its legend, as notebooks show it."""
        seen = [score for score in self.scores if score.channel]
        words = ", ".join(f"{score.name} {score.share:.0%}" for score in seen)
        legend = "".join(
            f'<span style="white-space:nowrap;margin-right:1em"><span style="display:inline-block;'
            f'width:.9em;height:.9em;background:rgb{_colour(score.channel)}"></span> '
            f"{escape(score.name)} {score.share:.0%}</span> "
            for score in seen
        )
        return (
            f'<figure style="margin:0"><img src="{self._data_url()}" style="max-width:100%" '
            f'alt="{escape(words or "nothing but background", quote=True)}">'
            f"<figcaption>{legend or 'nothing but background'}</figcaption></figure>"
        )

    def _data_url(self) -> str:
        picture = self.overlay()
        picture.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=88)
        return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _colour(channel: int) -> tuple[int, int, int]:
    red, green, blue = class_colours()[channel].tolist()
    return red, green, blue
