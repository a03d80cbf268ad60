"""Models as a configuration describes them."""

from recallseg.config import ModelConfig
from recallseg.model import Decoder, Encoder, Segmenter, scaled_dilations


def build_model(config: ModelConfig, channels: int, weights: str | None = None) -> Segmenter:
    """A fresh model with `channels` outputs, background included."""
    encoder = Encoder(
        config.encoder,
        output_stride=config.output_stride,
        weights=weights or config.weights,
        finest=config.neck_stride if config.neck else None,
        train_batch_norm=config.train_batch_norm,
    )
    return Segmenter(encoder, build_decoder(config, encoder, channels))


def build_decoder(config: ModelConfig, encoder: Encoder, channels: int) -> Decoder:
    """A fresh decoder on an encoder; helper decoders have the same shape with fewer channels."""
    dilations = config.dilations or scaled_dilations(encoder.stride)
    return Decoder(encoder.channels, channels, dilations=dilations, neck=config.neck)
