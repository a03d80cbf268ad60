"""What a model knew after each step of its life, for one photo at a time."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from recallseg.predict.opening import open_steps
from recallseg.predict.photos import Photo
from recallseg.predict.step_models import MARGIN, TILE, Seen, StepModels
from recallseg.runs.folder import RunFolder


class Timeline:
    """All steps of a run folder; `StepModels` says how they look at a photo."""

    def __init__(
        self,
        path: Path,
        *,
        tile: int = TILE,
        margin: int = MARGIN,
        longer_side: int | None = None,
    ) -> None:
        folder = RunFolder.existing(path)
        opened = open_steps(folder)
        self.path, self.method = path, folder.config.method.name
        self.refined = folder.learned().get("refined", {})
        self.class_names = {step: tuple(folder.class_names(step)) for step in opened}
        self.models = StepModels(
            opened,
            self.class_names,
            tile=tile,
            margin=margin,
            longer_side=longer_side,
            working_side=folder.config.views.longer_side,
        )

    def steps(self) -> list[dict[str, Any]]:
        """The steps with what was new or refined in each, as JSON values."""
        known = [len(names) for names in self.class_names.values()]
        return [
            {
                "step": step,
                "new": list(names[before:]),
                "refined": self.refined.get(str(step), []),
            }
            for (step, names), before in zip(self.class_names.items(), [1, *known], strict=False)
        ]

    def predict(
        self,
        photo: Photo,
        steps: Sequence[int] | None = None,
        still_wanted: Callable[[], None] = lambda: None,
    ) -> Seen:
        """What the model sees in a photo after each of some steps, all by default.

        Masks have the photo's size. `still_wanted` is called again and again, and may raise to end
        the work.
        """
        return next(self.models.look([photo], steps, still_wanted))
