"""From an upload to an answer: what is wanted, the photo, and what a model sees in it."""

import base64
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fastapi import HTTPException
from PIL import Image

from recallseg.data.dataset import Mask
from recallseg.data.palette import palette_image
from recallseg.data.shrink import resized
from recallseg.predict.step_models import Seen
from recallseg.predict.timeline import Timeline
from recallseg.serve.answers import Answer, SeenClass, StepAnswer


@dataclass(frozen=True)
class Wish:
    """What a request wants to know, before its photo is decoded."""

    key: str
    run: Timeline
    """As it was when the request came: a newer one may take its place meanwhile."""
    steps: tuple[int, ...]
    mask_side: int | None

    @classmethod
    def of(cls, runs: Mapping[str, Timeline], fields: Mapping[str, str]) -> "Wish":
        """What the fields of a form ask for, or a refusal."""
        key = fields.get("run", "model")
        if key not in runs:
            raise HTTPException(422, f"There is no run '{key[:40]}'; there is {', '.join(runs)}.")
        run = runs[key]
        return cls(
            key,
            run,
            _steps(run, fields.get("step", "last")),
            _mask_side(fields.get("mask_side", "")),
        )

    def mask_size(self, photo: Image.Image, most: int) -> tuple[int, int]:
        """The size of the masks: the photo's own, or less; a refusal where that is too much."""
        own = max(photo.size)
        width, height = resized(photo.size, min(own, self.mask_side or own))
        if len(self.steps) * width * height > most:
            count = "A mask" if len(self.steps) == 1 else f"{len(self.steps)} masks"
            raise HTTPException(
                413,
                f"{count} of {width}×{height} px would be sent, and an answer has at most "
                f"{most / 1e6:g} million pixels of them; ask for one step at a time, or set "
                "mask_side to have them smaller.",
            )
        return width, height


def see(
    wishes: Sequence[Wish], photos: Sequence[Image.Image], still_wanted: Callable[[], None]
) -> Iterator[Seen]:
    """What a run sees in photos of one size, of which the same steps are wanted."""
    first = wishes[0]
    return first.run.models.look(photos, first.steps, still_wanted)


def answer(wish: Wish, photo: Image.Image, size: tuple[int, int], seen: Seen) -> bytes:
    """The answer as JSON, with masks of a size."""
    steps = []
    for step, prediction in seen.items():
        classes = [SeenClass(**each) for each in prediction.summary()["classes"]]
        mask = _data_url(prediction.at_size(size).mask)
        steps.append(StepAnswer(step=step, classes=classes, mask=mask))
    whole = Answer(
        run=wish.key,
        photo_width=photo.width,
        photo_height=photo.height,
        width=size[0],
        height=size[1],
        class_names=list(wish.run.class_names[wish.steps[-1]]),
        steps=steps,
    )
    return whole.model_dump_json().encode()


def _mask_side(word: str) -> int | None:
    if not word:
        return None
    if word.isascii() and word.isdecimal() and int(word):
        return int(word)
    raise HTTPException(
        422, f"mask_side is '{word[:40]}'; it is the longer side of the masks in pixels."
    )


def _steps(run: Timeline, word: str) -> tuple[int, ...]:
    steps = tuple(run.class_names)
    if word == "all":
        return steps
    if word == "last":
        return steps[-1:]
    if word.isdecimal() and int(word) in steps:
        return (int(word),)
    listed = ", ".join(map(str, steps))
    raise HTTPException(422, f"There is no step '{word[:40]}'; there are {listed}, last and all.")


def _data_url(mask: Mask) -> str:
    buffer = io.BytesIO()
    palette_image(mask).save(buffer, "PNG", compress_level=4)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
