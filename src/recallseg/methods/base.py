"""What a continual learner decides; everything else is the engine's."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from recallseg.config import MethodConfig
from recallseg.errors import RecallsegError, unknown_name
from recallseg.losses import cross_entropy
from recallseg.model import Growth, Output, Segmenter
from recallseg.scenario import Scenario, Step


class Batch(NamedTuple):
    """Training samples: labels as channels of the model, and photos or their stored features."""

    labels: Tensor
    """(B, H, W), 255 for void."""
    photos: Tensor | None = None
    """uint8, (B, 3, H', W')."""
    features: Tensor | None = None
    """(B, C, h, w) of a frozen encoder; photos are not needed then."""
    label_stride: int = 1
    """Labels are those of one pixel out of n in each direction, the one in their middle."""

    def to(self, device: torch.device) -> "Batch":
        """The same samples on a device."""
        photos = None if self.photos is None else self.photos.to(device)
        features = None if self.features is None else self.features.to(device)
        return self._replace(labels=self.labels.to(device), photos=photos, features=features)

    def split(self, parts: int) -> list["Batch"]:
        """The same samples in so many batches, or in fewer if there are not as many."""
        parts = min(parts, len(self.labels))
        photos, features = (
            [None] * parts if each is None else each.tensor_split(parts)
            for each in (self.photos, self.features)
        )
        labels = self.labels.tensor_split(parts)
        return [
            self._replace(labels=each, photos=its_photos, features=its_features)
            for each, its_photos, its_features in zip(labels, photos, features, strict=True)
        ]


AnyLoss = TypeVar("AnyLoss", bound=Callable[..., Tensor])


def mean_of_shares(loss: AnyLoss) -> AnyLoss:
    """Mark a loss that several cores may compute, each of a share of a batch.

    It divides by what `losses.together` counts in the whole batch, and remembers nothing.
    """
    setattr(loss, "is_mean_of_shares", True)  # noqa: B010
    return loss


def can_be_shared(loss: Callable[..., Any]) -> bool:
    """Whether a loss is marked so; one that overrides it has to be marked again."""
    return getattr(loss, "is_mean_of_shares", False)


def output_of(model: Segmenter, batch: Batch) -> Output:
    """What a model says of a batch, logits where its labels are."""
    rows, columns = batch.labels.shape[-2:]
    output: Output = model(
        batch.photos,
        features=batch.features,
        size=(rows, columns),
        every=batch.label_stride,
    )
    return output


@mean_of_shares
def plain_loss(model: Segmenter, batch: Batch) -> Tensor:
    """Cross-entropy on the labels as they are."""
    return cross_entropy(output_of(model, batch).logits, batch.labels)


class Method:
    """A continual learner: which steps it sees and which loss it minimises.

    A method never touches disk, devices or arguments. This base trains on what each step gives it,
    with cross-entropy.
    """

    title: ClassVar[str]
    """What tables and reports call it."""

    inpaints: ClassVar[bool] = False
    """Whether the method is known for background inpainting; a configuration may differ."""

    stores: ClassVar[bool] = False
    """Whether the method keeps true samples of every step."""

    growth: Growth = "random"
    """How the decoder's new channels start; a configuration may differ."""

    defaults: ClassVar[Mapping[str, float]] = {}
    """The weights of its terms, which a configuration may change."""

    memory: nn.Module | None = None
    """What the method itself remembers; kept with every step and checkpoint."""

    previous: Segmenter
    """M_{k-1}, frozen; there from the first later step on."""

    def __init__(self, config: MethodConfig) -> None:
        self.config = config
        self.inpainting = self.inpaints if config.inpaint is None else config.inpaint
        self.growth = config.growth or self.growth
        for name in config.weights:
            if not self.defaults:
                raise RecallsegError(f"The method '{config.name}' has no weights to set.")
            if name not in self.defaults:
                raise unknown_name(f"weight of '{config.name}'", name, self.defaults)
        self.weights = {**self.defaults, **config.weights}

    def row(self, source: str | None, labels: Literal["helpers", "previous"]) -> str:
        """The row of a table that it belongs into; `source` is the title of what it replays.

        With replay, the supplement calls labels by the previous model naive.
        """
        how = "naive" if labels == "previous" else "ours"
        return f"{self.title} + {how} ({source})" if source else self.title

    def steps(self, scenario: Scenario) -> Scenario:
        """The scenario as this method sees it."""
        return scenario

    @staticmethod
    @mean_of_shares
    def initial_loss(model: Segmenter, batch: Batch) -> Tensor:
        """The objective of step 0. Runs share a step 0 of the same objective, so it knows no
        settings; methods that do not override it share theirs."""
        return plain_loss(model, batch)

    def begin(self, step: Step, model: Segmenter, previous: Segmenter | None = None) -> None:
        """Get ready for a step; `previous` is M_{k-1}, which step 0 has not."""
        if previous is not None:
            self.previous = previous

    @mean_of_shares
    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        """The objective of one batch of a later step, a scalar."""
        return plain_loss(model, batch)

    @torch.no_grad()
    def old(self, batch: Batch) -> Output:
        """What the previous model says of a batch."""
        return output_of(self.previous, batch)

    def review(self, step: Step, model: Segmenter, batches: Iterable[Batch]) -> None:
        """With a memory: look at a step's samples once more, with the model that learned them."""
