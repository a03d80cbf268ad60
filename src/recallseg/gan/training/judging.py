"""What all discriminators share: the two calls, and the score for a class."""

from abc import ABC, abstractmethod

from torch import Tensor, nn


class Discriminator(nn.Module, ABC):
    """Tells real images from generated ones: a score above zero takes an image for real.

    The frozen part and the trained part are two calls, so that the players share the first.
    """

    @abstractmethod
    def see(self, images: Tensor) -> list[Tensor]:
        """The frozen part: features of images (B,3,H,W) in [-1,1]."""

    @abstractmethod
    def judge(self, features: list[Tensor], classes: Tensor) -> Tensor:
        """The trained part: scores (B,S) of what `see` gives, for class ids (B,)."""


class ClassScore(nn.Module):
    """A score of features φ for a class y: w·φ + b + v_y·φ (Miyato & Koyama, ICLR 2018, eq. 3)."""

    def __init__(self, features: int, num_classes: int) -> None:
        super().__init__()
        self.any_class = nn.Linear(features, 1)
        self.per_class = nn.Embedding(num_classes, features)

    def forward(self, features: Tensor, classes: Tensor) -> Tensor:
        """Scores (B,) of features (B,D) for class ids (B,)."""
        agreement = (self.per_class(classes) * features).sum(1)
        score: Tensor = self.any_class(features)[:, 0] + agreement
        return score
