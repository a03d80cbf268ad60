"""How good generated images are, by what a classifier of real ones sees in them."""

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
"""Generated images of each class that are looked at."""


class Judge:
    """A classifier of real images that looks at others: its features of them, and its answers."""

    def __init__(self, classifier: PhotoClassifier) -> None:
        self.classifier = classifier
        self.head: nn.Linear = classifier.network.get_classifier()  # type: ignore[operator]

    def features(self, images: Tensor) -> Tensor:
        """What the head sees of square images (N,3,H,W), in bytes: features (N,D)."""
        return torch.cat([*on_every_core(self._look, images)])

    @torch.no_grad()
    def right(self, features: Tensor, labels: Tensor | int) -> float:
        """The share of features (N,D) that are taken for the class they are of."""
        answers: Tensor = self.head(features.to(self.head.weight.device)).argmax(1).cpu()
        return round(answers.eq(labels).float().mean().item(), 4)

    def _look(self, image: Tensor) -> Tensor:
        prepared = self.classifier.prepare(Image.fromarray(image.permute(1, 2, 0).numpy()))
        return pooled(self.classifier, prepared[None].to(self.head.weight.device)).cpu()


def quality(
    generator: BigGAN,
    classifier: PhotoClassifier,
    apart: tuple[Tensor, Tensor],
    trained_on: Tensor,
    names: tuple[str, ...],
    reporter: Reporter,
) -> dict[str, Any]:
    """What is known of the generator: how often it is recognised, and how far from real it is.

    `apart` are images and labels that nothing was trained on, of the generator's size. The
    Fréchet distance from them is also given for real images, `trained_on`: nothing can be nearer.
    """
    judge = Judge(classifier)
    held_out, labels = judge.features(apart[0]), apart[1]
    chosen = torch.linspace(0, len(trained_on) - 1, min(len(trained_on), len(labels))).long()
    seen: list[Tensor] = []
    shares: dict[str, float] = {}
    for name, features in zip(names, _samples(generator, judge, reporter), strict=True):
        shares[name] = judge.right(features, len(shares))
        seen.append(features)
    return {
        "images_per_class": MEASURED,
        "recognised": round(sum(shares.values()) / len(shares), 4),
        "recognised_by_class": shares,
        "recognised_of_real": judge.right(held_out, labels),
        "fid": round(frechet_distance(torch.cat(seen), held_out), 3),
        "fid_of_real": round(frechet_distance(judge.features(trained_on[chosen]), held_out), 3),
    }


def _samples(generator: BigGAN, judge: Judge, reporter: Reporter) -> Iterator[Tensor]:
    """Features (MEASURED,D) of images of each class in turn."""
    classes = generator.config.num_classes
    with reporter.phase("measuring", classes) as phase:
        for class_id in range(classes):
            yield judge.features(torch.stack([*sample(generator, class_id, MEASURED)]))
            phase.advance()
