"""The segmentation model M = D∘E of the paper."""

from torch import Tensor, nn

from recallseg.model.decoder import Decoder, upsample
from recallseg.model.encoders import Encoder, Features


class Segmenter(nn.Module):
    """An encoder and a decoder: images (B,3,H,W) to logits (B,C,H,W)."""

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, inputs: Tensor | Features, size: tuple[int, int] | None = None) -> Tensor:
        """Logits (B,C,*size) of images (uint8 or float in [0,1]) or of features encoded before.

        Images know their size; features must be told that of the images they came from.
        """
        if isinstance(inputs, Tensor):
            size = size or (inputs.shape[-2], inputs.shape[-1])
            inputs = self.encoder(inputs)
        if size is None:
            raise ValueError("features must come with the size of their images")
        return upsample(self.decoder(inputs), size)
