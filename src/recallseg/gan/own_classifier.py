"""Classifiers of your own classes: a linear head on a frozen ImageNet network, in a file."""

import recallseg.torchvision_guard  # noqa: F401

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from recallseg.errors import RecallsegError
from recallseg.gan.classifier import ImageNetClassifier, PhotoClassifier
from recallseg.gan.named_tensors import class_names, load_named, read_about, save_named
from recallseg.gan.shipped import SHIPPED, classifier_file
from recallseg.model.weights import imagenet_classifier

NETWORK, FEATURES = "efficientnet_lite0", 1280
SUFFIX = ".safetensors"


def build_classifier(name: str) -> PhotoClassifier:
    """The classifier that `replay.gan.classifier` names: a timm network, a shipped one, or a file.

    A relative path is looked for in the folder of datasets too.
    """
    if name in SHIPPED or name.endswith(SUFFIX):
        return load_classifier(classifier_file(Path(name).expanduser()))
    return ImageNetClassifier(name)


def with_head(head: nn.Linear, names: Sequence[str]) -> PhotoClassifier:
    """The ImageNet network with another head, in eval mode and without gradients."""
    body = imagenet_classifier(NETWORK)
    body.reset_classifier(len(names))  # type: ignore[operator]
    body.get_classifier().load_state_dict(head.state_dict())  # type: ignore[operator]
    return PhotoClassifier(body, names).requires_grad_(False)


def save_classifier(path: Path, head: nn.Linear, names: Sequence[str], **about: str) -> None:
    """Write a head for `NETWORK` with its class names."""
    save_named(path, head.state_dict(), names, network=NETWORK, **about)


def load_classifier(path: Path) -> PhotoClassifier:
    """The classifier that `save_classifier` wrote."""
    if not path.is_file():
        raise RecallsegError(
            f"The classifier {path} does not exist; `recallseg gan train` writes one beside every "
            "generator."
        )
    names, ours = class_names(path), read_about(path).get("network") == NETWORK
    state = load_named(path) if names and ours else {}
    if not names or not _fits(state, len(names)):
        raise RecallsegError(
            f"{path} is no classifier of `recallseg gan train`, which ends in "
            ".classifier.safetensors: it lacks a linear head or the names of its classes."
        )
    head = nn.Linear(FEATURES, len(names))
    head.load_state_dict(state)
    return with_head(head, names)


@torch.no_grad()
def pooled(classifier: PhotoClassifier, photos: Tensor) -> Tensor:
    """What the head sees of prepared photos (B,3,H,W), bytes: features (B,D)."""
    normal = (photos / 255 - classifier.mean) / classifier.std
    maps = classifier.network.forward_features(normal)  # type: ignore[operator]
    features: Tensor = classifier.network.forward_head(maps, pre_logits=True)  # type: ignore[operator]
    return features


def _fits(state: dict[str, Tensor], classes: int) -> bool:
    shapes = {key: tuple(tensor.shape) for key, tensor in state.items()}
    return shapes == {"weight": (classes, FEATURES), "bias": (classes,)}
