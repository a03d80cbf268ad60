"""The Python interface: what the command line does, for programs."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

import numpy as np
from PIL import Image

from recallseg.config import flat
from recallseg.data.in_memory import Picture, as_folder
from recallseg.engine import learn as life
from recallseg.engine.evaluation.rescore import rescore
from recallseg.predict.files import find_photos
from recallseg.predict.photos import Photo, as_image
from recallseg.predict.prediction import Prediction
from recallseg.predict.predictor import Predictor
from recallseg.predict.segmentation import Segmentation
from recallseg.progress import Listener, ProgressReport, heard_by
from recallseg.report.model_history import model_history
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import ResultRecord, StepRecord

__all__ = ["Learner", "Prediction", "ProgressReport", "Segmentation"]

Data = Path | str | Sequence[Picture]
"""A folder dataset, or photos whose masks come beside them."""


class Learner:
    """A model in a folder: it learns classes one call at a time and keeps no photo of them.

    >>> model = Learner.open("model")
    >>> model.learn("first-photos", optim={"iterations_per_class": 300})
    >>> model.learn("photos-of-sheep", source="web")
    >>> model.predict("field.jpg").overlay()
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._predictor = lru_cache(maxsize=2)(self._open)

    @classmethod
    def open(cls, path: Path | str) -> "Learner":
        """The model in a folder; a folder that does not exist yet becomes one when it learns."""
        return cls(path)

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the model knows after its last complete step, background first."""
        return self._latest().class_names

    def learn(
        self,
        data: Data,
        masks: Sequence[Picture] | None = None,
        *,
        names: Sequence[str] = (),
        classes: Sequence[str] | None = None,
        source: str | None = None,
        val: Path | str | None = None,
        allow_forgetting: bool = False,
        on_progress: Listener | None = None,
        **settings: Any,  # noqa: ANN401
    ) -> ResultRecord:
        """Add the classes of photos to the model, or begin one; gives the result.

        `data` is a folder dataset (images/, masks/, classes.txt), or a list of photos with `masks`
        and the `names` of their labels 1, 2, …. `classes` are the new ones, by default all, or
        known ones to be refined with more photos. `source` says where images of the old classes
        come from: `web`, `gan:FILE`, `folder:PATH` or `none`; an old class without any is an error
        unless `allow_forgetting`. `val` is a folder dataset to be measured on, which later calls
        keep. `on_progress` is called with a `ProgressReport` again and again; what it raises stops
        the work, and the same call goes on.
        All other keywords are settings: `seed=1`, `views={"crop": 96}`.
        """
        with heard_by(on_progress), _folder(data, masks, names) as folder:
            return life.learn(
                self.path,
                folder,
                classes=classes,
                source=source,
                val=None if val is None else Path(val),
                overrides=as_words(settings),
                allow_forgetting=allow_forgetting,
            )

    @overload
    def predict(  # type: ignore[overload-overlap]
        self, photos: Photo, step: int | None = None
    ) -> Segmentation: ...

    @overload
    def predict(self, photos: Sequence[Photo], step: int | None = None) -> list[Segmentation]: ...

    def predict(
        self, photos: Photo | Sequence[Photo], step: int | None = None
    ) -> Segmentation | list[Segmentation]:
        """What the model sees in a photo, after its last complete step or an earlier one.

        A photo is a path, an image or an array (H, W, 3); it gives one segmentation. A folder, a
        pattern such as `a/*.jpg`, a list of photos or an array (N, H, W, 3) gives a list of them.
        """
        many = _many(photos)
        if many is None:
            return next(self.predict_many([photos], step))  # type: ignore[list-item]
        return list(self.predict_many(many, step))

    def predict_many(
        self, photos: Iterable[Photo], step: int | None = None
    ) -> Iterator[Segmentation]:
        """What the model sees in many photos, one by one in their order, however many there are."""
        predictor = self._latest() if step is None else self._predictor(step)
        waiting: deque[Image.Image] = deque()

        def read() -> Iterator[Image.Image]:
            for photo in photos:
                waiting.append(as_image(photo))
                yield waiting[-1]

        for prediction in predictor.predict_many(read()):
            yield Segmentation.of(prediction, waiting.popleft())

    def evaluate(
        self,
        data: Data | None = None,
        masks: Sequence[Picture] | None = None,
        *,
        names: Sequence[str] = (),
        split: str | None = None,
        step: int | None = None,
        on_progress: Listener | None = None,
    ) -> StepRecord:
        """The scores on photos with masks of all classes, given as to `learn`.

        Without `data`, they are those that the model was measured on when it learned. Of a folder
        that lists a split `val`, only that one counts.
        """
        given = nullcontext(None) if data is None else _folder(data, masks, names)
        with heard_by(on_progress), given as folder:
            return rescore(self.path, root=folder, split=split, step=step)

    def export(self, out: Path | str, step: int | None = None) -> Path:
        """Write the model as an ONNX file, which needs neither recallseg nor PyTorch."""
        from recallseg.predict.export import export_onnx

        export_onnx(self.path, Path(out), step)
        return Path(out)

    def push_to_hub(self, repo_id: str, **options: Any) -> str:  # noqa: ANN401
        """Upload the model and its card to a hub; gives the address of the commit.

        Options are those of huggingface_hub's mixin: `private`, `branch`, `commit_message`,
        `token`.
        """
        from recallseg import hub

        return hub.push(self.path, repo_id, **options)

    @classmethod
    def from_pretrained(cls, repo_id: Path | str, **options: Any) -> "Learner":  # noqa: ANN401
        """The model in a folder, or of a hub, downloaded into a new folder (`out`).

        Other options are `revision` and `token`.
        """
        if Path(repo_id).is_dir():
            return cls(repo_id)
        from recallseg import hub

        return cls(hub.pull(str(repo_id), **options))

    def rollback(self, to: int) -> list[str]:
        """Forget every step after one; gives the classes that are gone."""
        self._predictor.cache_clear()
        return life.rollback(self.path, to)

    def info(self) -> dict[str, Any]:
        """The history of the model so far, as `recallseg info --json` tells it."""
        return model_history(self.path)

    def __repr__(self) -> str:
        return f"Learner({str(self.path)!r})"

    def _latest(self) -> Predictor:
        steps = RunFolder.existing(self.path).finished_steps()
        return self._predictor(steps[-1] if steps else None)

    def _open(self, step: int | None) -> Predictor:
        return Predictor.open(self.path, step)


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Settings by section as `key=value` words: {"views": {"crop": 96}} is `views.crop=96`."""
    return [
        f"{key}={json.dumps(value, default=str)}" for key, value in flat(dict(settings)).items()
    ]


def _folder(
    data: Data, masks: Sequence[Picture] | None, names: Sequence[str]
) -> AbstractContextManager[Path]:
    """The folder dataset that is meant, made of photos and masks where there is none yet."""
    if isinstance(data, Path | str):
        return nullcontext(Path(data))
    return as_folder(list(data), list(() if masks is None else masks), names)


def _many(photos: Photo | Sequence[Photo]) -> Sequence[Photo] | None:
    """The photos that are meant; None if it is a single one."""
    if isinstance(photos, Path | str):
        meant = find_photos([str(photos)])
        return None if meant == [Path(photos).expanduser()] else meant
    if isinstance(photos, np.ndarray):
        return list(photos) if photos.ndim == 4 else None
    return None if isinstance(photos, Image.Image) else photos
