"""How good generated images are, measured with a classifier of real ones."""

from collections.abc import Iterator
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from recallseg.gan.biggan import BigGAN
from recallseg.gan.classifier import PhotoClassifier
from recallseg.gan.generator import sample
from recallseg.gan.own_classifier import pooled
from recallseg.metrics.frechet import frechet_distance
from recallseg.model.cores import on_every_core
from recallseg.reporter import Reporter

MEASURED = 50
"""The number of generated images per class that are measured."""


class Judge:
    """A classifier of real images, and its features and answers for others."""

    def __init__(self, classifier: PhotoClassifier) -> None:
        self.classifier = classifier
        self.head: nn.Linear = classifier.network.get_classifier()  # type: ignore[operator]

    def features(self, images: Tensor) -> Tensor:
        """The head's input for square images (N,3,H,W), in bytes: features (N,D)."""
        return torch.cat([*on_every_core(self._look, images)])

    @torch.no_grad()
    def right(self, features: Tensor, labels: Tensor | int) -> float:
        """The share of features (N,D) that are classified right."""
        answers: Tensor = self.head(features.to(self.head.weight.device)).argmax(1).cpu()
        return round(answers.eq(labels).float().mean().item(), 4)

    def _look(self, image: Tensor) -> Tensor:
        prepared = self.classifier.prepare(Image.fromarray(image.permute(1, 2, 0).numpy()))
        return pooled(self.classifier, prepared[None].to(self.head.weight.device)).cpu()


def quality(
    generator: BigGAN,
    classifier: PhotoClassifier,
    held_out: tuple[Tensor, Tensor],
    trained_on: Tensor,
    names: tuple[str, ...],
    reporter: Reporter,
) -> dict[str, Any]:
    """How often generated images are recognised, and how far they are from real ones.

    `held_out` are images and labels that nothing was trained on, of the generator's size. The
    Fréchet distance to them is also given for the real images `trained_on`, as a lower bound.
    """
    judge = Judge(classifier)
    real, labels = judge.features(held_out[0]), held_out[1]
    rows = torch.linspace(0, len(trained_on) - 1, min(len(trained_on), len(labels))).long()
    generated: list[Tensor] = []
    shares: dict[str, float] = {}
    for name, features in zip(names, _samples(generator, judge, reporter), strict=True):
        shares[name] = judge.right(features, len(shares))
        generated.append(features)
    return {
        "images_per_class": MEASURED,
        "recognised": round(sum(shares.values()) / len(shares), 4),
        "recognised_by_class": shares,
        "recognised_of_real": judge.right(real, labels),
        "fid": round(frechet_distance(torch.cat(generated), real), 3),
        "fid_of_real": round(frechet_distance(judge.features(trained_on[rows]), real), 3),
    }


def _samples(generator: BigGAN, judge: Judge, reporter: Reporter) -> Iterator[Tensor]:
    """Features (MEASURED,D) of images of each class in turn."""
    classes = generator.config.num_classes
    with reporter.phase("measuring", classes) as phase:
        for class_id in range(classes):
            yield judge.features(torch.stack([*sample(generator, class_id, MEASURED)]))
            phase.advance()
