import recallseg.torchvision_guard  # noqa: F401

import subprocess
import sys

import pytest
import torch
import torchvision
from torch import Tensor, nn

from recallseg.errors import RecallsegError
from recallseg.model.encoders import Encoder


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def resnet18(**options: int | bool) -> Encoder:
    torch.manual_seed(0)
    return Encoder("resnet18", weights="none", **options)  # type: ignore[arg-type]


def statistics(encoder: Encoder) -> dict[str, Tensor]:
    return {key: value.clone() for key, value in encoder.named_buffers() if "running" in key}


def affine(encoder: Encoder) -> dict[str, Tensor]:
    norms = [m for m in encoder.modules() if isinstance(m, nn.BatchNorm2d)]
    return {str(i): norm.bias.detach().clone() for i, norm in enumerate(norms)}


def train_one_step(encoder: Encoder) -> None:
    encoder.train()
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
    encoder(torch.rand(2, 3, 33, 33)).square().mean().backward()
    optimizer.step()


def changed(before: dict[str, Tensor], after: dict[str, Tensor]) -> bool:
    return any(not torch.equal(before[key], after[key]) for key in before)


@pytest.mark.parametrize(
    ("output_stride", "finest", "channels", "stride", "size"),
    [
        (16, None, 320, 16, 13),
        (8, None, 320, 8, 25),
        (16, 8, 40 + 112 + 320, 8, 26),
        (16, 4, 24 + 40 + 112 + 320, 4, 52),
        (32, 16, 112 + 320, 16, 14),
    ],
)
def test_lite0_features(
    output_stride: int, finest: int | None, channels: int, stride: int, size: int
) -> None:
    encoder = Encoder(output_stride=output_stride, weights="none", finest=finest)
    assert encoder.channels == channels
    assert encoder.stride == stride
    assert encoder.mean_colour == (128, 128, 128)
    with torch.no_grad():
        features = encoder(torch.rand(1, 3, 193, 193))
    assert features.shape == (1, channels, size, size)


def test_stages_lie_side_by_side_at_the_finest_size() -> None:
    encoder = resnet18(finest=8)
    images = torch.rand(1, 3, 64, 64)
    maps = encoder.body((images - encoder.mean) / encoder.std)
    assert [tuple(m.shape[1:]) for m in maps] == [(128, 8, 8), (256, 4, 4), (512, 4, 4)]
    fine, *coarse = (
        torch.nn.functional.interpolate(m, (8, 8), mode="bilinear", align_corners=False)
        for m in maps
    )
    by_hand = torch.cat([fine, *coarse], dim=1)
    torch.testing.assert_close(encoder(images), by_hand, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "channels"), [("mobilenetv3_small_050", 288), ("convnext_atto", 320)]
)
def test_any_timm_cnn_can_be_the_encoder(name: str, channels: int) -> None:
    encoder = Encoder(name, weights="none")
    assert encoder.channels == encoder(torch.rand(1, 3, 64, 64)).shape[1] == channels


def test_resnet101_of_the_paper_at_stride_8() -> None:
    encoder = Encoder("resnet101", output_stride=8, weights="none")
    head = 2048 * 1000 + 1000
    with torch.device("meta"):
        whole = torchvision.models.resnet101()
    expected = sum(p.numel() for p in whole.parameters()) - head
    assert sum(p.numel() for p in encoder.parameters()) == expected == 42_500_160
    assert encoder.channels == 2048
    assert encoder.mean_colour == (124, 116, 104)


def test_images_are_normalised_with_the_encoders_mean_and_std() -> None:
    encoder = resnet18().eval()
    images = torch.randint(0, 256, (2, 3, 48, 32), dtype=torch.uint8)
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    expected = encoder.body((images / 255 - mean) / std)[-1]
    torch.testing.assert_close(encoder(images), expected, atol=1e-4, rtol=1e-4)
    assert torch.equal(encoder(images / 255), encoder(images))


def test_other_integers_are_no_images() -> None:
    with pytest.raises(TypeError, match=r"uint8, or float in \[0,1\]; these are torch\.int64"):
        resnet18()(torch.zeros(1, 3, 32, 32, dtype=torch.int64))


def test_training_keeps_batch_norm_statistics_but_learns_the_affine_part() -> None:
    encoder = resnet18()
    before, weights = statistics(encoder), affine(encoder)
    train_one_step(encoder)
    assert encoder.training
    assert not changed(before, statistics(encoder))
    assert changed(weights, affine(encoder))


def test_batch_norm_statistics_follow_when_asked() -> None:
    encoder = resnet18(train_batch_norm=True)
    before = statistics(encoder)
    train_one_step(encoder)
    assert changed(before, statistics(encoder))


def test_a_frozen_encoder_stays_frozen() -> None:
    encoder = resnet18(train_batch_norm=True).freeze()
    encoder.train()
    assert not any(module.training for module in encoder.modules())
    assert not any(p.requires_grad for p in encoder.parameters())


def test_fingerprints_tell_encoders_apart() -> None:
    encoder = resnet18()
    first = encoder.fingerprint()
    assert len(first) == 64
    assert resnet18().fingerprint() == first
    assert resnet18(output_stride=8).fingerprint() != first
    assert resnet18(finest=8).fingerprint() != first
    copy = resnet18().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    assert copy.fingerprint() == first
    with torch.no_grad():
        next(encoder.parameters()).view(-1)[7] += 1e-6
    assert encoder.fingerprint() != first


def test_a_changed_statistic_changes_the_fingerprint() -> None:
    encoder = resnet18()
    first = encoder.fingerprint()
    dict(encoder.named_buffers())["body.bn1.running_var"][3] += 0.5
    assert encoder.fingerprint() != first


def test_fingerprint_is_equal_in_another_process() -> None:
    script = "from recallseg.model import Encoder; import sys; sys.stdout.write("
    script += "Encoder(weights='imagenet').fingerprint())"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert other.stdout.decode() == Encoder().fingerprint()


@pytest.mark.parametrize(
    ("name", "stride", "message"),
    [
        ("resnet1001", 16, "Unknown encoder 'resnet1001'.*resnet101"),
        ("vit_tiny_patch16_224", 16, "cannot be an encoder at output stride 16.*TypeError"),
        ("resnet18", 7, "cannot be an encoder at output stride 7.*AssertionError"),
        ("resnet18.unheard_of", 16, "cannot be an encoder"),
    ],
)
def test_models_that_cannot_be_encoders(name: str, stride: int, message: str) -> None:
    with pytest.raises(RecallsegError, match=message):
        Encoder(name, output_stride=stride, weights="none")


def test_a_neck_at_a_stride_that_does_not_exist() -> None:
    with pytest.raises(RecallsegError, match=r"no stage at stride 5 for a neck; .*\[2, 4, 8, 16\]"):
        resnet18(finest=5)
