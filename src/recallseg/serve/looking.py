"""From an upload to an answer; what takes long here runs in the worker's thread."""

import base64
import io
import time
from collections.abc import Mapping

from fastapi import HTTPException
from PIL import Image

from recallseg.data.dataset import Mask, TooManyPixelsError, decode_photo
from recallseg.data.palette import palette_image
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
    found = run.predict(photo, steps, still_wanted)
    answers = []
    for step, prediction in found.items():
        classes = [SeenClass(**each) for each in prediction.summary()["classes"]]
        answers.append(StepAnswer(step=step, classes=classes, mask=_data_url(prediction.mask)))
    height, width = prediction.mask.shape
    return Answer(
        run=key,
        photo_width=photo.width,
        photo_height=photo.height,
        width=width,
        height=height,
        class_names=list(prediction.class_names),
        steps=answers,
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
    known = list(run.models)
    if word == "all":
        return known
    if word == "last":
        return known[-1:]
    if word.isdecimal() and int(word) in known:
        return [int(word)]
    listed = ", ".join(map(str, known))
    raise HTTPException(422, f"There is no step '{word[:40]}'; there are {listed}, last and all.")


def _data_url(mask: Mask) -> str:
    buffer = io.BytesIO()
    palette_image(mask).save(buffer, "PNG", compress_level=4)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
