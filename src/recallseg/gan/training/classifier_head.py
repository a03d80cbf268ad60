"""A classifier of the generator's classes, for the class mapping (paper, eq. mapper)."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from recallseg.data.decoding import read_photo
from recallseg.gan.classifier import ImageNetClassifier, PhotoClassifier
from recallseg.gan.named_tensors import read_about
from recallseg.gan.own_classifier import load_classifier, pooled, save_classifier
from recallseg.gan.training.images import ClassFolder
from recallseg.model.cores import on_every_core
from recallseg.reporter import Reporter

DECAY = 1e-3
STEPS = 200
MOST_IMAGES = 100
"""The largest number of images per class that the linear head is trained on."""


def trained_classifier(
    path: Path, folder: ClassFolder, device: torch.device, reporter: Reporter
) -> tuple[PhotoClassifier, float]:
    """A linear head on a frozen ImageNet network, and its accuracy on images held out.

    It is read from `path` if it was trained on the same images before.
    """
    about = read_about(path)
    if about.get("images") != folder.signature():
        head, accuracy = _fit(folder, device, reporter)
        metadata = {"images": folder.signature(), "accuracy": json.dumps(accuracy)}
        save_classifier(path, head, folder.names, **metadata)
        about = read_about(path)
    return load_classifier(path).to(device), json.loads(about["accuracy"])


def fit_head(features: Tensor, labels: Tensor, classes: int) -> nn.Linear:
    """Logistic regression on features (N,D), in which every class weighs the same.

    The problem is convex and starts at zero, so that the solution needs no seed. All features are
    scaled by the same number: with one scale per feature, those that hardly vary would be noise.
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


def _fit(folder: ClassFolder, device: torch.device, reporter: Reporter) -> tuple[nn.Linear, float]:
    held_out = folder.held_out
    rows = torch.cat([held_out.nonzero()[:, 0], _first(folder.labels, ~held_out, MOST_IMAGES)])
    paths = [folder.paths[row] for row in rows]
    features = torch.cat([*_features(paths, device, reporter)])
    labels, held_out = folder.labels[rows], held_out[rows]
    head = fit_head(features[~held_out], labels[~held_out], len(folder.names))
    with torch.no_grad():
        right = head(features[held_out]).argmax(1) == labels[held_out]
    return head, round(right.float().mean().item(), 4)


def _first(labels: Tensor, among: Tensor, count: int) -> Tensor:
    """The rows of the first `count` images of each label, among those where `among` is true."""
    rows = [
        ((labels == label) & among).nonzero()[:count, 0] for label in range(1 + int(labels.max()))
    ]
    return torch.cat(rows)


def _features(paths: Sequence[Path], device: torch.device, reporter: Reporter) -> Iterator[Tensor]:
    """Features (1,D) of each photo, whole and undistorted, as in the class mapping."""
    network = ImageNetClassifier().to(device)

    def look(path: Path) -> Tensor:
        return pooled(network, network.prepare(read_photo(path))[None].to(device)).cpu()

    with reporter.phase("classifier features", len(paths)) as phase:
        for features in on_every_core(look, paths):
            yield features
            phase.advance()
