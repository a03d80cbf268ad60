"""What the server says, as schemas that its documentation shows."""

from typing import Any

from pydantic import BaseModel, Field

from recallseg.serve.limits import PHOTO_FORMATS


class SeenClass(BaseModel):
    """A class that was seen in the photo."""

    name: str
    channel: int = Field(description="The value of its pixels in the mask.")
    share: float = Field(description="The part of the photo that it covers, from 0 to 1.")
    confidence: float = Field(description="The mean probability over its pixels, from 0 to 1.")


class StepAnswer(BaseModel):
    """What the model saw after one step of its life."""

    step: int
    classes: list[SeenClass] = Field(description="The largest first, the background among them.")
    mask: str = Field(description="A palette PNG as a data URL: a pixel's value is its channel.")


class Answer(BaseModel):
    """What a run of the model saw in a photo."""

    run: str
    photo_width: int
    photo_height: int
    width: int = Field(description="Of the masks: that of the photo, unless mask_side is less.")
    height: int
    class_names: list[str] = Field(description="Channel numbers are places in this list.")
    steps: list[StepAnswer]


class Refusal(BaseModel):
    """Why a request was not served, in a sentence."""

    detail: str


class Health(BaseModel):
    """Whether the server is well."""

    status: str


class StepAbout(BaseModel):
    """A step of a model's life."""

    step: int
    new: list[str] = Field(description="The classes it learned.")
    refined: list[str] = Field(description="If none is new: those it had more photos of.")


class RunAbout(BaseModel):
    """A run that can be asked."""

    key: str
    name: str
    method: str
    steps: list[StepAbout]


class SampleAbout(BaseModel):
    """A picture to try."""

    url: str
    name: str


class About(BaseModel):
    """What this server has."""

    runs: list[RunAbout]
    samples: list[SampleAbout]
    upload_bytes: int
    pixels: int
    mask_pixels: int = Field(description="Of all masks of an answer together, at most.")


FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": f"A photo: {', '.join(PHOTO_FORMATS)}.",
                        },
                        "step": {
                            "type": "string",
                            "description": "A step's number, 'last' (the default) or 'all'.",
                        },
                        "run": {
                            "type": "string",
                            "description": "'model' (the default) or 'compare'.",
                        },
                        "mask_side": {
                            "type": "string",
                            "description": "The longer side of the masks at most; without it "
                            "they have the photo's own size.",
                        },
                    },
                }
            }
        },
    }
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Refusal, "description": why}
    for code, why in {
        400: "The upload is no photo that can be read, or it takes too long to decode.",
        408: "The upload did not arrive in time.",
        413: "The upload has too many bytes, or the photo or the masks too many pixels.",
        415: "The request is not multipart/form-data.",
        422: "The photo is missing, there is no such step or run, or mask_side is no number.",
        429: "This client sent more photos than it may: try again after Retry-After.",
        503: "Too many requests wait, this one took too long, or the server is about to stop: try "
        "again after Retry-After.",
    }.items()
}
