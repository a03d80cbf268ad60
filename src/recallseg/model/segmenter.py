"""The segmentation model M = D∘E of the paper."""

import hashlib
from typing import NamedTuple

from torch import Tensor, nn

from recallseg.model.decoder import Decoder
from recallseg.model.encoders import Encoder
from recallseg.model.geometry import sparse, to_pixels


class Output(NamedTuple):
    """What a model says of some images, and the features it said it from."""

    logits: Tensor
    """(B,C,H,W)."""
    features: Tensor
    """(B,D,h,w)."""


class Segmenter(nn.Module):
    """An encoder and a decoder: images (B,3,H,W) to logits (B,C,H,W)."""

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def pretrained(self) -> list[nn.Module]:
        """The parts that start with weights of others, and learn at a rate of their own."""
        tail = self.decoder.tail
        return [self.encoder.body, *([tail] if tail else [])]

    def fingerprint(self) -> str:
        """SHA-256 of all that the model's answers depend on; changes with every weight."""
        digest = hashlib.sha256(self.encoder.fingerprint().encode())
        for name, tensor in sorted(self.decoder.all_weights().items()):
            digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    def forward(
        self,
        images: Tensor | None = None,
        *,
        features: Tensor | None = None,
        size: tuple[int, int] | None = None,
        every: int = 1,
    ) -> Output:
        """Logits (B,C,*size) of images (uint8 or float in [0,1]), or of features encoded before.

        With `every`, they are those of one pixel out of so many in each direction. `size` is how
        many there are: by default all of the images; features must be told.
        """
        if features is None:
            if images is None:
                raise ValueError("give images or their features")
            features, kept = self.encoder(images), sparse(every)
            size = size or (len(range(images.shape[-2])[kept]), len(range(images.shape[-1])[kept]))
        if size is None:
            raise ValueError("features must come with the size that the logits shall have")
        logits = to_pixels(self.decoder(features), self.encoder.stride, size, every)
        if logits.shape[-2:] != size:
            raise ValueError(f"features of this size cover {tuple(logits.shape[-2:])}, not {size}")
        return Output(logits, features)
