"""The Python interface: what the command line does, for programs."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from recallseg.engine import learn as life
from recallseg.predict.photos import Photo
from recallseg.predict.prediction import Prediction
from recallseg.predict.predictor import Predictor
from recallseg.report.model_history import model_history
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import ResultRecord

__all__ = ["Learner", "Prediction"]


class Learner:
    """A model in a folder: it learns classes one call at a time and keeps no photo of them.

    >>> model = Learner.open("model")
    >>> model.learn("first-photos")
    >>> model.learn("photos-of-sheep", source="web")
    >>> model.predict("field.jpg").class_names
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
        data: Path | str,
        *,
        classes: Sequence[str] | None = None,
        source: str | None = None,
        val: Path | str | None = None,
        overrides: Sequence[str] = (),
    ) -> ResultRecord:
        """Add the classes of a folder dataset (images/, masks/, classes.txt); gives the result.

        `classes` are the new ones among those of the dataset, by default all. `source` says where
        images of the old classes come from: `web`, `gan:FILE`, `folder:PATH` or `none`. `val` is a
        folder dataset to be measured on, `overrides` are settings as `key=value`.
        """
        return life.learn(
            self.path,
            Path(data),
            classes=classes,
            source=source,
            val=None if val is None else Path(val),
            overrides=overrides,
        )

    def predict(self, photo: Photo, step: int | None = None) -> Prediction:
        """What the model sees in a photo, after its last complete step or an earlier one."""
        return next(self.predict_many([photo], step))

    def predict_many(
        self, photos: Iterable[Photo], step: int | None = None
    ) -> Iterator[Prediction]:
        """What the model sees in many photos, in their order."""
        predictor = self._latest() if step is None else self._predictor(step)
        return predictor.predict_many(photos)

    def rollback(self, to: int) -> list[str]:
        """Forget every step after one; gives the classes that are gone."""
        self._predictor.cache_clear()
        return life.rollback(self.path, to)

    def info(self) -> dict[str, Any]:
        """The history of the model so far, as `recallseg info --json` tells it."""
        return model_history(self.path)

    def _latest(self) -> Predictor:
        steps = RunFolder.existing(self.path).finished_steps()
        return self._predictor(steps[-1] if steps else None)

    def _open(self, step: int | None) -> Predictor:
        return Predictor.open(self.path, step)
