import recallseg.torchvision_guard  # noqa: F401

from pathlib import Path

import numpy as np
import pytest
import torch
import torchvision
from safetensors.torch import save_file
from scipy.stats import truncnorm
from torch import Tensor

from recallseg.errors import RecallsegError
from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.generator import (
    config_of,
    fold_spectral_norm,
    load_generator,
    sample,
    to_uint8,
    truncated_noise,
)

TINY = BigGANConfig.at(64, channel_width=4, num_classes=5)


@pytest.fixture(scope="module")
def generator() -> BigGAN:
    torch.manual_seed(0)
    return BigGAN(TINY).eval()


def test_noise_is_truncated_normal() -> None:
    noise = truncated_noise(200, 100, truncation=0.5, seed=3)
    assert noise.shape == (200, 100)
    assert noise.dtype == torch.float32
    assert 0.99 < noise.abs().max() <= 1
    expected = truncnorm(-2, 2, scale=0.5).std()
    assert abs(noise.mean()) < 0.01
    assert noise.std().item() == pytest.approx(expected, abs=0.01)


def test_noise_of_a_row_depends_on_seed_and_number_alone() -> None:
    whole = truncated_noise(5, 8, seed=(1, 2))
    assert torch.equal(truncated_noise(2, 8, seed=(1, 2), first=3), whole[3:])
    assert torch.equal(truncated_noise(5, 8, truncation=0.5, seed=(1, 2)), whole / 2)
    assert not torch.equal(truncated_noise(5, 8, seed=(2, 1)), whole)
    assert truncated_noise(0, 8).shape == (0, 8)
    assert len(truncated_noise(4, 8).unique(dim=0)) == 4


def test_samples_do_not_depend_on_the_batch(generator: BigGAN) -> None:
    images = torch.stack([*sample(generator, 2, 5, seed=7, batch=5)])
    assert images.shape == (5, 3, 64, 64)
    assert images.dtype == torch.uint8
    single = torch.stack([*sample(generator, 2, 5, seed=7, batch=2)])
    assert (images.int() - single.int()).abs().max() <= 1
    for other in (sample(generator, 2, 1, seed=8), sample(generator, 3, 1, seed=7)):
        assert not torch.equal(next(other), images[0])


def test_samples_are_the_generators_images(generator: BigGAN) -> None:
    noise = truncated_noise(1, 128, 0.5, seed=(7, 2))
    expected = to_uint8(generator(noise, torch.tensor([2]), 0.5))[0]
    assert torch.equal(next(sample(generator, 2, 1, truncation=0.5, seed=7)), expected)


def test_bytes_are_256_equal_steps() -> None:
    values = torch.tensor([-1.0, -0.995, -0.99, 0.0, 0.9999, 1.0])
    assert to_uint8(values).tolist() == [0, 0, 1, 128, 255, 255]


def test_a_class_that_the_generator_lacks(generator: BigGAN) -> None:
    with pytest.raises(RecallsegError, match=r"no class 5; its 5 classes are 0 to 4"):
        sample(generator, 5, 1)


def legacy(state: dict[str, Tensor], path: Path) -> None:
    torch.save(state, path, _use_new_zipfile_serialization=False)


@pytest.mark.parametrize(
    ("suffix", "save"),
    [("safetensors", save_file), ("pth", torch.save), ("pt", torch.save), ("bin", legacy)],
)
def test_a_saved_generator_loads_again(
    suffix: str, save: object, generator: BigGAN, tmp_path: Path
) -> None:
    path = tmp_path / f"weights.{suffix}"
    save(generator.state_dict(), path)  # type: ignore[operator]
    loaded = load_generator(path)
    assert loaded.config == TINY
    assert not loaded.training
    assert not any(each.requires_grad for each in loaded.parameters())
    for key, tensor in generator.state_dict().items():
        assert torch.equal(loaded.state_dict()[key], tensor), key


def test_spectral_norm_is_folded_into_the_weights() -> None:
    """A diagonal matrix's norm is its largest entry, here along the second axis."""
    weight = torch.diag(torch.tensor([1.0, 4.0]))
    axis = torch.tensor([0.0, 1.0])
    state = {"a.weight_orig": weight, "a.weight_u": axis, "a.weight": weight, "a.bias": axis}
    for extra in ({}, {"a.weight_v": axis}):
        folded = fold_spectral_norm(state | extra, Path("x.bin"))
        assert sorted(folded) == ["a.bias", "a.weight"]
        assert torch.equal(folded["a.weight"], weight / 4)
    with pytest.raises(RecallsegError, match=r"a\.weight_orig \(2, 2\) without singular vectors"):
        fold_spectral_norm({"a.weight_orig": weight, "a.weight_u": torch.ones(3)}, Path("x.bin"))


@pytest.mark.parametrize(("attention", "first_side"), [(0, 4), (8, 4), (32, 4), (0, 16), (16, 8)])
def test_the_configuration_is_told_from_the_tensors(attention: int, first_side: int) -> None:
    config = BigGANConfig.at(
        64, channel_width=8, num_classes=7, attention=attention, first_side=first_side
    )
    assert config_of(BigGAN(config).state_dict()) == config


def test_a_file_of_another_architecture_names_its_keys(tmp_path: Path) -> None:
    torch.save(torchvision.models.resnet18().state_dict(), tmp_path / "resnet.pth")
    with pytest.raises(RecallsegError) as caught:
        load_generator(tmp_path / "resnet.pth")
    message = str(caught.value)
    assert "do not fit a BigGAN-deep generator of 128 px" in message
    assert "missing (embeddings.weight, generator.gen_z.weight, generator.gen_z.bias, " in message
    assert "122 unexpected (conv1.weight, bn1.weight, bn1.bias, bn1.running_mean, …)" in message


def test_a_generator_of_another_size_names_the_shapes(generator: BigGAN, tmp_path: Path) -> None:
    save_file(generator.state_dict(), tmp_path / "small.safetensors")
    with pytest.raises(RecallsegError) as caught:
        load_generator(tmp_path / "small.safetensors", BigGANConfig.at(128, channel_width=4))
    message = str(caught.value)
    assert "embeddings.weight (128, 5) instead of (128, 1000)" in message
    assert "missing (generator.layers.6.bn_0.running_means, " in message


class Payload:
    """Something that only an unsafe unpickler would build."""


def test_files_that_are_no_generators(tmp_path: Path) -> None:
    with pytest.raises(RecallsegError, match=r"gone\.bin is no generator file; give one that"):
        load_generator(tmp_path / "gone.bin")
    for name in ("broken.bin", "broken.safetensors"):
        (tmp_path / name).write_bytes(b"not weights at all")
        with pytest.raises(RecallsegError, match=f"{name} could not be read: "):
            load_generator(tmp_path / name)
    torch.save({"a": Payload()}, tmp_path / "code.pth")
    with pytest.raises(RecallsegError, match=r"could not be read: Weights only load failed"):
        load_generator(tmp_path / "code.pth")
    torch.save([1, 2], tmp_path / "list.pth")
    with pytest.raises(RecallsegError, match="holds no dictionary of tensors"):
        load_generator(tmp_path / "list.pth")
    (tmp_path / "photo.png").write_bytes(np.zeros(3).tobytes())
    with pytest.raises(RecallsegError, match=r"ends in \.safetensors, \.pth, \.pt, \.bin"):
        load_generator(tmp_path / "photo.png")
