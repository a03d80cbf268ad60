"""Encoders, the growing decoders, and the segmenter they make together."""

from recallseg.model.decoder import Decoder, Growth, scaled_dilations
from recallseg.model.deeplab_v2 import DeepLabV2
from recallseg.model.deeplab_v3 import DeepLabV3
from recallseg.model.encoders import Encoder
from recallseg.model.segmenter import Output, Segmenter
from recallseg.model.weights import imagenet_classifier

__all__ = [
    "Decoder",
    "DeepLabV2",
    "DeepLabV3",
    "Encoder",
    "Growth",
    "Output",
    "Segmenter",
    "imagenet_classifier",
    "scaled_dilations",
]
