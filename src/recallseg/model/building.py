"""Models as a configuration describes them."""

from recallseg.config import ModelConfig
from recallseg.errors import unknown_name
from recallseg.model import Decoder, DeepLabV2, DeepLabV3, Encoder, Segmenter, scaled_dilations
from recallseg.model.tail import Tail

DECODERS: dict[str, type[DeepLabV2] | type[DeepLabV3]] = {
    "deeplab_v2": DeepLabV2,
    "deeplab_v3": DeepLabV3,
}


def build_model(config: ModelConfig, channels: int, weights: str | None = None) -> Segmenter:
    """A fresh model with `channels` outputs, background included."""
    weights = weights or config.weights
    encoder = Encoder(
        config.encoder,
        output_stride=config.output_stride,
        weights=weights,
        finest=config.neck_stride if config.neck else None,
        train_batch_norm=config.train_batch_norm,
        batch_norm_momentum=config.batch_norm_momentum,
        without_tail=config.tail is not None,
    )
    if config.tail and not config.first_stages:
        encoder.freeze()
    return Segmenter(encoder, build_decoder(config, encoder, channels, weights))


def build_decoder(
    config: ModelConfig, encoder: Encoder, channels: int, weights: str = "none"
) -> Decoder:
    """A fresh decoder on an encoder; helper decoders have the same shape with fewer channels.

    `weights` are those of its tail, if it has one.
    """
    kind = DECODERS.get(config.decoder)
    if kind is None:
        raise unknown_name("decoder", config.decoder, DECODERS)
    dilations = config.dilations or scaled_dilations(encoder.stride, kind.rates, kind.rates_at)
    tail = build_tail(config, weights) if config.tail else None
    return kind(encoder.channels, channels, dilations=dilations, neck=config.neck, tail=tail)


def build_tail(config: ModelConfig, weights: str) -> Tail:
    """The stages of the network that belong to a decoder."""
    stride, finest = config.output_stride, config.neck_stride
    return Tail(config.encoder, output_stride=stride, finest=finest, weights=weights)
