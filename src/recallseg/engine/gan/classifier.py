"""A classifier of the generator's classes, for the class mapping (paper, eq. mapper)."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from recallseg.data.dataset import read_photo
from recallseg.engine.reporting import Reporter
from recallseg.progress import prefetch
from recallseg.replay.biggan import BigGAN
from recallseg.replay.classifier import load_classifier, pooled, save_classifier
from recallseg.replay.generator import sample
from recallseg.replay.mapping import ImageNetClassifier, PhotoClassifier
from recallseg.replay.named import read_about
from recallseg.replay.training import ClassFolder

DECAY = 1e-3
STEPS = 200
BATCH = 16


def trained_classifier(
    path: Path, folder: ClassFolder, device: torch.device, reporter: Reporter
) -> tuple[PhotoClassifier, float | None]:
    """A linear head on a frozen ImageNet network, and its accuracy on images that it never saw.

    It is taken from `path` if it was trained on the same images before.
    """
    about = read_about(path)
    if about.get("images") != folder.signature():
        head, accuracy = _fit(folder, device, reporter)
        told = {"images": folder.signature(), "accuracy": json.dumps(accuracy)}
        save_classifier(path, head, folder.names, **told)
        about = read_about(path)
    return load_classifier(path).to(device), json.loads(about["accuracy"])


def fit_head(features: Tensor, labels: Tensor, classes: int) -> nn.Linear:
    """Logistic regression on features (N,D), in which every class weighs the same.

    The problem is convex and starts at zero, so that the answer needs no seed. All features are
    scaled by one number: those that hardly vary would be mostly chance if each had its own.
    """
    mean = features.mean(0)
    spread = (features - mean).square().mean().sqrt() + 1e-6
    standard = (features - mean) / spread
    weight = torch.zeros(classes, features.shape[1], requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)
    counts = torch.bincount(labels, minlength=classes)
    importance = len(labels) / (classes * counts.clamp(min=1))
    solver = torch.optim.LBFGS([weight, bias], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> float:
        solver.zero_grad()
        wrong = cross_entropy(standard @ weight.T + bias, labels, importance)
        total = wrong + DECAY * weight.square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total.item()

    solver.step(loss)  # type: ignore[no-untyped-call]
    head = nn.Linear(features.shape[1], classes)
    with torch.no_grad():
        head.weight.copy_(weight / spread)
        head.bias.copy_(bias - (weight / spread) @ mean)
    return head


def accuracy_of(classifier: PhotoClassifier, images: Tensor, labels: Tensor) -> float | None:
    """The share of square images (N,3,H,W), in bytes, that are taken for their class."""
    return _share(predictions(classifier, images) == labels)


def recognised(
    generator: BigGAN, classifier: PhotoClassifier, per_class: int, reporter: Reporter
) -> list[float]:
    """For each class the share of generated images that the classifier takes for it."""
    shares = []
    classes = generator.config.num_classes
    with reporter.phase("measuring", classes) as phase:
        for class_id in range(classes):
            images = torch.stack([*sample(generator, class_id, per_class)])
            right = predictions(classifier, images) == class_id
            shares.append(round(right.float().mean().item(), 4))
            phase.advance()
    return shares


@torch.no_grad()
def predictions(classifier: PhotoClassifier, images: Tensor) -> Tensor:
    """The class ids (N,) that square images (N,3,H,W), in bytes, are taken for."""
    answers = []
    for first in range(0, len(images), BATCH):
        part = images[first : first + BATCH]
        photos = [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in part]
        prepared = torch.stack([classifier.prepare(photo) for photo in photos])
        answers.append(classifier(prepared.to(classifier.mean.device)).argmax(1).cpu())
    return torch.cat(answers) if answers else torch.empty(0, dtype=torch.long)


def _fit(
    folder: ClassFolder, device: torch.device, reporter: Reporter
) -> tuple[nn.Linear, float | None]:
    features = torch.cat([*_features(folder.paths, device, reporter)])
    labels, apart = folder.labels, folder.held_out
    head = fit_head(features[~apart], labels[~apart], len(folder.names))
    with torch.no_grad():
        right = head(features[apart]).argmax(1) == labels[apart]
    return head, _share(right)


def _features(paths: Iterable[Path], device: torch.device, reporter: Reporter) -> Iterator[Tensor]:
    """Features (1,D) of each photo, whole and undistorted, as the class mapping sees photos."""
    network = ImageNetClassifier().to(device)
    paths = [*paths]
    with reporter.phase("classifier features", len(paths)) as phase:
        for photo in prefetch(lambda path: network.prepare(read_photo(path)), paths):
            yield pooled(network, photo[None].to(device)).cpu()
            phase.advance()


def _share(right: Tensor) -> float | None:
    return round(right.float().mean().item(), 4) if len(right) else None
