"""What can be chosen about replay by GAN (paper, sec. 5)."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from recallseg.config.section import Positive
from recallseg.config.sources import SourceSettings
from recallseg.errors import RecallsegError
from recallseg.replay.source import Source


class GanSettings(SourceSettings):
    """A class-conditional generator, and how our classes are mapped to its own."""

    title: str = "GAN"
    path: Path | None = None
    """The generator's weights, a folder with `config.json` and them, or `toy`, which comes with the
    package. A relative path is looked for in `$RECALLSEG_DATA` too."""
    classifier: str = "efficientnet_lite0"
    """Who maps our classes to the generator's: a timm network trained on ImageNet, the
    `.classifier.safetensors` that `recallseg gan train` wrote, or `toy`."""
    map_by: Literal["area", "photos", "boxes"] = "area"
    """What is classified to map a class: whole photos, which count by the share that the class
    covers, or each the same, as in the paper; or boxes around the class, which count by area."""
    map_apart: bool = False
    """Let no two classes share a class of the generator, whose images would have to be replayed as
    both; the one that came first, or resembles it more, keeps it."""
    map_photos: Positive | None = None
    """How many photos of a class are classified, at most; by default all of them."""
    truncation: Annotated[float, Field(gt=0, le=1)] = 1.0
    """How far from the mean noise is drawn; less is cleaner and more alike."""
    side: Positive | None = None
    """Pixels per side that images are brought to, so that things in them are about as large as in
    photos; by default they stay as large as they are generated."""

    def open(self) -> Source:
        """The generator, loaded."""
        from recallseg.replay.gan_images import GanSource

        return GanSource.load(self)

    def stored_bytes(self) -> int:
        """The size of the generator's weights, in a file or a folder; 0 where they are gone."""
        from recallseg.gan.released import weights_file
        from recallseg.gan.shipped import generator_file

        try:
            path = weights_file(generator_file(self.path)) if self.path else None
        except RecallsegError:
            return 0
        return path.stat().st_size if path and path.is_file() else 0
