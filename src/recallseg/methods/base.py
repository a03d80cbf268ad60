"""What a continual learner decides; everything else is the engine's."""

from typing import ClassVar, NamedTuple

from torch import Tensor

from recallseg.config import MethodConfig
from recallseg.losses import cross_entropy
from recallseg.model import Segmenter
from recallseg.scenario import Scenario


class Batch(NamedTuple):
    """Training samples: labels as channels of the model, and photos or their stored features."""

    labels: Tensor
    """(B, H, W), 255 for void."""
    photos: Tensor | None = None
    """uint8, (B, 3, H', W')."""
    features: Tensor | None = None
    """(B, C, h, w) of a frozen encoder; photos are not needed then."""


def logits_of(model: Segmenter, batch: Batch) -> Tensor:
    """The logits (B, C, H, W) of a batch, at the size of its labels."""
    size = batch.labels.shape[-2:]
    logits: Tensor = model(batch.photos, features=batch.features, size=(size[0], size[1]))
    return logits


def plain_loss(model: Segmenter, batch: Batch) -> Tensor:
    """Cross-entropy on the labels as they are: step 0 of every method."""
    return cross_entropy(logits_of(model, batch), batch.labels)


class Method:
    """A continual learner: which steps it sees and which loss it minimises.

    A method never touches disk, devices or arguments. This base trains on what each step gives it,
    with cross-entropy.
    """

    inpaints: ClassVar[bool] = False
    """Whether the method is known for background inpainting; a configuration may differ."""

    stores: ClassVar[bool] = False
    """Whether the method keeps true samples of every step."""

    def __init__(self, config: MethodConfig) -> None:
        self.config = config
        self.inpainting = self.inpaints if config.inpaint is None else config.inpaint

    def steps(self, scenario: Scenario) -> Scenario:
        """The scenario as this method sees it."""
        return scenario

    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """The objective of one batch, a scalar."""
        return plain_loss(model, batch)
