"""What a continual learner decides; everything else is the engine's."""

from typing import NamedTuple

from torch import Tensor

from recallseg.config import MethodConfig
from recallseg.losses import cross_entropy
from recallseg.model import Features, Segmenter
from recallseg.scenario import Scenario


class Batch(NamedTuple):
    """Training samples: photos or their stored features, and labels as channels of the model."""

    inputs: Tensor | Features
    """uint8 photos (B, 3, H, W), or features of a frozen encoder."""
    labels: Tensor
    """(B, H, W), 255 for void."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the photos, also where only features are at hand."""
        return self.labels.shape[-2], self.labels.shape[-1]


def plain_loss(model: Segmenter, batch: Batch) -> Tensor:
    """Cross-entropy on the labels as they are: step 0 of every method."""
    return cross_entropy(model(batch.inputs, batch.size), batch.labels)


class Method:
    """A continual learner: which steps it sees and which loss it minimises.

    A method never touches disk, devices or arguments. This base trains on what each step gives it,
    with cross-entropy.
    """

    def __init__(self, config: MethodConfig) -> None:
        self.config = config

    def steps(self, scenario: Scenario) -> Scenario:
        """The scenario as this method sees it."""
        return scenario

    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """The objective of one batch, a scalar."""
        return plain_loss(model, batch)
