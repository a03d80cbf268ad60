"""From an upload to an answer; what takes long here runs in the worker's thread."""

import base64
import io
import time
from collections.abc import Mapping

from fastapi import HTTPException
from PIL import Image

from recallseg.data.dataset import Mask, TooManyPixelsError, decode_photo
from recallseg.data.palette import palette_image
from recallseg.data.shrink import resized
from recallseg.errors import RecallsegError
from recallseg.predict.timeline import Timeline
from recallseg.serve.answers import Answer, SeenClass, StepAnswer
from recallseg.serve.limits import PHOTO_FORMATS, ServerLimits
from recallseg.serve.uploads import Upload


def look(
    runs: Mapping[str, Timeline], upload: Upload, limits: ServerLimits, deadline: float
) -> Answer:
    """Decode a photo and segment it, unless its time is over; runs in the worker's thread."""

    def still_wanted() -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    still_wanted()
    key = upload.fields.get("run", "model")
    if key not in runs:
        raise HTTPException(422, f"There is no run '{key[:40]}'; there is {', '.join(runs)}.")
    run = runs[key]
    steps = _steps(run, upload.fields.get("step", "last"))
    photo = _decoded(upload.photo, limits.pixels)
    width, height = _mask_size(photo, upload.fields.get("mask_side", ""))
    _check_answer(len(steps), width, height, limits.mask_pixels)
    answers = []
    for step, prediction in run.predict(photo, steps, still_wanted).items():
        still_wanted()
        classes = [SeenClass(**each) for each in prediction.summary()["classes"]]
        mask = _data_url(prediction.at_size((width, height)).mask)
        answers.append(StepAnswer(step=step, classes=classes, mask=mask))
    return Answer(
        run=key,
        photo_width=photo.width,
        photo_height=photo.height,
        width=width,
        height=height,
        class_names=list(run.class_names[steps[-1]]),
        steps=answers,
    )


def _mask_size(photo: Image.Image, word: str) -> tuple[int, int]:
    """The size of the masks that are asked for: the photo's own, or less."""
    if word and not (word.isascii() and word.isdecimal() and int(word)):
        raise HTTPException(
            422, f"mask_side is '{word[:40]}'; it is the longer side of the masks in pixels."
        )
    own = max(photo.size)
    return resized(photo.size, min(own, int(word)) if word else own)


def _check_answer(steps: int, width: int, height: int, most: int) -> None:
    if steps * width * height > most:
        count = "A mask" if steps == 1 else f"{steps} masks"
        raise HTTPException(
            413,
            f"{count} of {width}×{height} px would be sent, and an answer has at most "
            f"{most / 1e6:g} million pixels of them; ask for one step at a time, or set mask_side "
            "to have them smaller.",
        )


def _decoded(data: bytes, most: int) -> Image.Image:
    source = io.BytesIO(data)
    try:
        return decode_photo(source, "The upload", formats=PHOTO_FORMATS, max_pixels=most)
    except TooManyPixelsError as error:
        raise HTTPException(413, str(error)) from error
    except RecallsegError as error:
        raise HTTPException(400, str(error)) from error


def _steps(run: Timeline, word: str) -> list[int]:
    steps = list(run.class_names)
    if word == "all":
        return steps
    if word == "last":
        return steps[-1:]
    if word.isdecimal() and int(word) in steps:
        return [int(word)]
    listed = ", ".join(map(str, steps))
    raise HTTPException(422, f"There is no step '{word[:40]}'; there are {listed}, last and all.")


def _data_url(mask: Mask) -> str:
    buffer = io.BytesIO()
    palette_image(mask).save(buffer, "PNG", compress_level=4)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
