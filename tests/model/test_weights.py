import recallseg.torchvision_guard  # noqa: F401

from collections.abc import Callable
from pathlib import Path

import pytest
import timm
import torch
import torchvision
from safetensors.torch import save_file
from skimage.data import chelsea
from torch import Tensor, nn

from recallseg.errors import RecallsegError
from recallseg.model import Encoder, imagenet_classifier
from recallseg.model import weights as weights_module

State = dict[str, Tensor]


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def reference() -> nn.Module:
    """torchvision's ResNet-18 with random weights and BatchNorm statistics that are not trivial."""
    torch.manual_seed(0)
    model: nn.Module = torchvision.models.resnet18().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.1, 0.1)  # type: ignore[arg-type]
            nn.init.uniform_(module.running_var, 0.5, 1.5)  # type: ignore[arg-type]
    return model


def reference_features(model: nn.Module, images: Tensor) -> Tensor:
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    x: Tensor = (images - mean) / std
    for name, module in model.named_children():
        if name not in ("avgpool", "fc"):
            x = module(x)
    return x


def plain(state: State) -> object:
    return state


def deeplab(state: State) -> object:
    body = {f"backbone.{key}": value for key, value in state.items() if not key.startswith("fc.")}
    heads = {"classifier.4.bias": torch.zeros(21), "aux_classifier.0.weight": torch.zeros(2, 2)}
    return body | heads


def wrapped(state: State) -> object:
    keys = {f"module.encoder.{key}": value for key, value in state.items()}
    return {"epoch": 3, "state_dict": {"model": keys}}


def without_counters(state: State) -> object:
    return {key: value for key, value in state.items() if "num_batches" not in key}


@pytest.mark.parametrize("layout", [plain, deeplab, wrapped, without_counters])
def test_torchvision_files_give_torchvisions_features(
    layout: Callable[[State], object], reference: nn.Module, tmp_path: Path
) -> None:
    torch.save(layout(reference.state_dict()), tmp_path / "weights.pth")
    encoder = Encoder("resnet18", output_stride=32, weights=str(tmp_path / "weights.pth")).eval()
    images = torch.rand(1, 3, 64, 64)
    expected = reference_features(reference, images)
    torch.testing.assert_close(encoder(images), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("encoder_name", ["resnet18", "tu-resnet18"])
def test_a_model_of_segmentation_models_gives_its_encoder(
    encoder_name: str, tmp_path: Path
) -> None:
    smp = pytest.importorskip("segmentation_models_pytorch")
    model = smp.Unet(encoder_name, encoder_weights=None).eval()
    torch.save({"epoch": 3, "state_dict": model.state_dict()}, tmp_path / "unet.pth")
    encoder = Encoder("resnet18", output_stride=32, weights=str(tmp_path / "unet.pth")).eval()
    images = torch.rand(1, 3, 64, 64)
    expected = model.encoder((images - encoder.mean) / encoder.std)[-1]
    torch.testing.assert_close(encoder(images), expected, atol=1e-4, rtol=1e-4)


def test_a_pickled_model_is_refused_unopened(reference: nn.Module, tmp_path: Path) -> None:
    torch.save(reference, tmp_path / "whole.pth")
    with pytest.raises(RecallsegError, match="could not be read: Weights only load failed"):
        Encoder("resnet18", weights=str(tmp_path / "whole.pth"))


@pytest.mark.parametrize("name", ["resnet18", "repvgg_a0", "efficientnet_lite0"])
def test_a_saved_encoder_loads_again(name: str, tmp_path: Path) -> None:
    saved = Encoder(name, weights="none")
    save_file(saved.state_dict(), tmp_path / "encoder.safetensors")
    loaded = Encoder(name, weights=str(tmp_path / "encoder.safetensors"))
    assert loaded.fingerprint() == saved.fingerprint()


def test_a_timm_classifier_file_loads_under_the_names_of_its_features(tmp_path: Path) -> None:
    classifier = timm.create_model("repvgg_a0")
    save_file(classifier.state_dict(), tmp_path / "timm.safetensors")
    encoder = Encoder("repvgg_a0", weights=str(tmp_path / "timm.safetensors"))
    expected = classifier.state_dict()["stages.1.0.conv_kxk.conv.weight"]
    assert torch.equal(encoder.state_dict()["body.stages_1.0.conv_kxk.conv.weight"], expected)


def test_lite0_weights_come_from_the_package() -> None:
    encoder = Encoder()
    packaged = weights_module.lite0_state()
    for key, tensor in encoder.body.state_dict().items():
        assert torch.equal(tensor, packaged[key]), key
    assert Encoder().fingerprint() == encoder.fingerprint()


def test_a_package_of_another_shape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "load", lambda *_, **__: {"a": torch.zeros(1)})
    with pytest.raises(RecallsegError, match=r"The 1 tensors of the package .* timm's 296"):
        weights_module.lite0_state()


def test_random_weights_only_when_asked() -> None:
    first = Encoder("resnet18", weights="none").fingerprint()
    assert Encoder("resnet18", weights="none").fingerprint() != first


def test_lite0_sees_a_cat() -> None:
    cat = torch.from_numpy(chelsea()).permute(2, 0, 1)[None] / 255
    small = nn.functional.interpolate(cat, size=(224, 224), mode="bilinear", antialias=True)
    classifier = imagenet_classifier()
    assert not classifier.training
    with torch.no_grad():
        scores = classifier((small - 0.5) / 0.5)
    assert scores.shape == (1, 1000)
    assert scores.argmax().item() in range(281, 286)


def refuse(*_: object, **options: object) -> nn.Module:
    if options.get("pretrained"):
        raise OSError("no route to host")
    return nn.Identity()


def test_a_failing_download_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timm, "create_model", refuse)
    with pytest.raises(RecallsegError, match=r"'resnet18' could not be downloaded .*'none'"):
        imagenet_classifier("resnet18")


def test_a_file_that_does_not_fit_names_the_keys(reference: nn.Module, tmp_path: Path) -> None:
    state = dict(reference.state_dict())
    state["conv1.weight"] = torch.zeros(64, 1, 7, 7)
    state["projector.0.weight"] = torch.zeros(1)
    for key in [key for key in state if key.startswith("layer4.1") and "num_b" not in key]:
        del state[key]
    torch.save(state, tmp_path / "other.pt")
    with pytest.raises(RecallsegError) as caught:
        Encoder("resnet18", weights=str(tmp_path / "other.pt"))
    message = str(caught.value)
    assert "10 (layer4.1.conv1.weight, layer4.1.bn1.weight, " in message
    assert "layer4.1.bn1.running_var, …) missing; 1 (projector.0.weight) unexpected" in message
    assert "1 (conv1.weight (64, 1, 7, 7) instead of (64, 3, 7, 7)) of another shape" in message


def test_a_deeper_network_is_not_taken_for_a_shallower_one(tmp_path: Path) -> None:
    """ResNet-34 starts with every tensor of ResNet-18's, so only unexpected keys give it away."""
    torch.save(torchvision.models.resnet34().state_dict(), tmp_path / "deeper.pth")
    with pytest.raises(RecallsegError, match=r"layer1\.2\.conv1\.weight, .*unexpected"):
        Encoder("resnet18", weights=str(tmp_path / "deeper.pth"))


class Payload:
    """Something that only an unsafe unpickler would build."""


@pytest.mark.parametrize("name", ["broken.pth", "broken.pt", "broken.safetensors"])
def test_a_corrupt_file_is_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"not weights at all")
    with pytest.raises(RecallsegError, match=f"{name} could not be read: "):
        Encoder("resnet18", weights=str(tmp_path / name))


def test_files_without_plain_tensors_are_refused(tmp_path: Path) -> None:
    torch.save({"model": Payload()}, tmp_path / "code.pth")
    with pytest.raises(RecallsegError, match=r"could not be read: Weights only load failed"):
        weights_module.read_state(str(tmp_path / "code.pth"))
    torch.save([1, 2], tmp_path / "list.pth")
    with pytest.raises(RecallsegError, match="holds no dictionary of tensors"):
        weights_module.read_state(str(tmp_path / "list.pth"))


def test_weights_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(RecallsegError, match=r"gone\.pth does not exist"):
        Encoder("resnet18", weights=str(tmp_path / "gone.pth"))
    with pytest.raises(RecallsegError, match="'coco' are neither 'imagenet', 'none' nor"):
        Encoder("resnet18", weights="coco")
