"""Encoders, the growing DeepLab-V2 decoder, and the segmenter they make together."""

from recallseg.model.decoder import Decoder, scaled_dilations
from recallseg.model.encoders import Encoder
from recallseg.model.segmenter import Output, Segmenter
from recallseg.model.weights import imagenet_classifier

__all__ = [
    "Decoder",
    "Encoder",
    "Output",
    "Segmenter",
    "imagenet_classifier",
    "scaled_dilations",
]
