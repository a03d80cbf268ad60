"""BigGAN-deep against `pytorch-pretrained-biggan`, whose weights are public, with random ones."""

import dataclasses
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot

from recallseg.errors import RecallsegError
from recallseg.gan.biggan import BigGAN, TruncationNorm
from recallseg.gan.biggan_config import WIDTHS, BigGANConfig, deep_layers
from recallseg.gan.generator import load_generator

TINY = BigGANConfig.at(64, channel_width=8, num_classes=5)


@pytest.fixture(scope="module")
def package() -> Any:
    """The reference package, with stand-ins for the downloaders that it imports and never calls."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("boto3", "requests", "botocore", "botocore.exceptions"):
            if name not in sys.modules:
                stand_in = ModuleType(name)
                stand_in.ClientError = Exception  # type: ignore[attr-defined]
                patch.setitem(sys.modules, name, stand_in)
        return pytest.importorskip(
            "pytorch_pretrained_biggan", reason="pytorch-pretrained-biggan is not installed"
        )


def reference(package: Any, config: BigGANConfig) -> nn.Module:
    """The package's model with random weights, normalisation statistics and singular vectors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        described = dataclasses.asdict(config)
        assert described.pop("first_side") == 4
        model: nn.Module = package.BigGAN(package.BigGANConfig(**described))
    torch.manual_seed(0)
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        spread(name, tensor)
    for module in model.modules():
        if hasattr(module, "weight_u"):
            iterate(module)
    return model.eval()


@torch.no_grad()
def spread(name: str, tensor: Tensor) -> None:
    """Values of a magnitude that keeps images away from black and white."""
    if name.endswith("running_means"):
        tensor.normal_(std=0.1)
    elif name.endswith(("running_vars", "bn.weight", "gamma")):
        tensor.uniform_(0.5, 1.5)
    elif name.endswith("bn.bias"):
        tensor.normal_(std=0.1)


@torch.no_grad()
def iterate(module: Any) -> None:
    """A few power iterations, as training would have run."""
    matrix = module.weight_orig.flatten(1)
    for _ in range(3):
        module.weight_v.copy_(normalize(matrix.T @ module.weight_u, dim=0))
        module.weight_u.copy_(normalize(matrix @ module.weight_v, dim=0))


@torch.no_grad()
def assert_parity(package: Any, config: BigGANConfig, path: Path, truncations: list[float]) -> None:
    """Same images within 1e-4 from the same file, one image by id and one by one-hot vector."""
    theirs = reference(package, config)
    torch.save(theirs.state_dict(), path / "weights.bin")
    ours = load_generator(path / "weights.bin")
    assert ours.config == config
    noise = torch.randn(1, 128)
    hot = one_hot(torch.tensor([3]), config.num_classes).float()
    for truncation in truncations:
        expected = theirs(noise, hot, truncation)
        assert expected.shape == (1, 3, config.output_dim, config.output_dim)
        assert 0.05 < expected.std() < 0.9
        given = hot if truncation == 1 else torch.tensor([3])
        torch.testing.assert_close(ours(noise, given, truncation), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("resolution", [64, 128, 256, 512])
def test_narrow_parity(package: Any, resolution: int, tmp_path: Path) -> None:
    config = BigGANConfig.at(resolution, channel_width=4, num_classes=5)
    assert_parity(package, config, tmp_path, [1.0, 0.4, 0.41, 0.02])


@torch.no_grad()
def assert_folder_parity(package: Any, config: BigGANConfig, folder: Path) -> None:
    """A folder as the package reads one itself gives the images that the package makes of it."""
    written = reference(package, config)
    torch.save(written.state_dict(), folder / "pytorch_model.bin")
    (folder / "config.json").write_text(written.config.to_json_string())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = package.BigGAN.from_pretrained(str(folder)).eval()
    ours = load_generator(folder)
    assert ours.config == config
    noise, hot = torch.randn(2, 128), one_hot(torch.tensor([3, 1]), config.num_classes).float()
    for truncation in (1.0, 0.4):
        expected = theirs(noise, hot, truncation)
        torch.testing.assert_close(ours(noise, hot, truncation), expected, atol=1e-4, rtol=0)


def test_a_folder_as_people_have_it(package: Any, tmp_path: Path) -> None:
    """With an eps and a place of the doublings that no tensor tells."""
    plain = BigGANConfig.at(64, channel_width=4, num_classes=5)
    swapped = tuple((not up, before, after) for up, before, after in plain.layers)
    config = dataclasses.replace(plain, eps=0.5, layers=swapped, attention_layer_position=6)
    assert_folder_parity(package, config, tmp_path)


def test_the_public_128_px(package: Any, tmp_path: Path) -> None:
    """Its configuration is in its folder, and can be told from its tensors as well."""
    assert_folder_parity(package, BigGANConfig(), tmp_path)
    assert load_generator(tmp_path / "pytorch_model.bin").config == BigGANConfig()


@pytest.mark.slow
@pytest.mark.parametrize("resolution", [256, 512])
def test_public_parity_of_the_larger(package: Any, resolution: int, tmp_path: Path) -> None:
    assert_parity(package, BigGANConfig.at(resolution), tmp_path, [1.0])


@torch.no_grad()
def test_between_stored_truncations_the_package_weighs_the_wrong_neighbour(
    package: Any, tmp_path: Path
) -> None:
    """0.405 lies a quarter of the way from 0.40 to 0.42; the package takes three quarters."""
    theirs = reference(package, TINY)
    torch.save(theirs.state_dict(), tmp_path / "weights.bin")
    ours = load_generator(tmp_path / "weights.bin")
    noise, hot = torch.randn(1, 128), torch.eye(5)[:1]
    expected = theirs(noise, hot, 0.415)
    torch.testing.assert_close(ours(noise, hot, 0.405), expected, atol=1e-4, rtol=0)
    assert (theirs(noise, hot, 0.405) - expected).abs().max() > 1e-3


def test_statistics_are_interpolated_linearly() -> None:
    norm = TruncationNorm(1, dataclasses.replace(TINY, n_stats=3))
    norm.running_means.copy_(torch.tensor([[0.0], [4.0], [8.0]]))
    norm.running_vars.copy_(torch.tensor([[1.0], [2.0], [10.0]]))
    for truncation, mean, var in [(0.125, 1, 1.25), (0.5, 4, 2), (0.75, 6, 6), (1.0, 8, 10)]:
        found = norm.statistics(truncation)
        assert [each.item() for each in found] == [mean, var]
    single = TruncationNorm(1, dataclasses.replace(TINY, n_stats=1))
    assert single.statistics(0.3)[1].item() == single.statistics(1.0)[1].item() == 1


def test_training_uses_the_batch_and_leaves_what_is_stored() -> None:
    norm = TruncationNorm(1, dataclasses.replace(TINY, n_stats=2, eps=1e-12))
    x = torch.tensor([1.0, 3.0, 5.0, 7.0]).view(2, 1, 1, 2)
    out = norm.train().normalise(x, 1.0, torch.ones(1), torch.zeros(1))
    torch.testing.assert_close(out.flatten(), torch.tensor([-3.0, -1.0, 1.0, 3.0]) / 5**0.5)
    assert norm.running_means.tolist() == [[0], [0]]
    assert norm.running_vars.tolist() == [[1], [1]]


def test_a_small_generator_learns() -> None:
    generator = BigGAN(TINY).train()
    noise, ids = torch.randn(2, 128), torch.tensor([0, 4])
    generator(noise, ids).square().mean().backward()
    without = [name for name, each in generator.named_parameters() if each.grad is None]
    assert without == []
    assert generator.embeddings.weight.grad is not None
    used = generator.embeddings.weight.grad.abs().sum(0) > 0
    assert used.tolist() == [True, False, False, False, True]


def test_public_configurations() -> None:
    """The 512 px JSON file's layers, and the attention that all three have at 64 px."""
    ups = [(True, 16, 16), (True, 16, 8), (True, 8, 8), (True, 8, 4), (True, 4, 2), (True, 2, 1)]
    layers = BigGANConfig.at(512).layers
    assert [*layers[1::2]] == [*ups, (True, 1, 1)]
    assert all(not up and before == after for up, before, after in layers[::2])
    assert BigGANConfig.at(128) == BigGANConfig()
    assert {BigGANConfig.at(side).attention_layer_position for side in (128, 256, 512)} == {8}
    assert BigGANConfig.at(64).attention_layer_position == 6
    assert BigGANConfig.at(64, attention=0).attention_layer_position == -1


def test_configurations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RecallsegError, match=r"resolution '96'. Known: 32, 64, 128, 256, 512"):
        BigGANConfig.at(96)
    with pytest.raises(RecallsegError, match=r"attention resolution '64'. Known: 0, 4, 8, 16, 32"):
        BigGANConfig.at(64, attention=64)
    with pytest.raises(RecallsegError, match=r"layers make images of 256 px .* expected 128 px"):
        BigGANConfig(layers=deep_layers(WIDTHS[256]))
    with pytest.raises(RecallsegError, match=r"inputs are \[16, 8\] and the outputs \[4, 1\]"):
        BigGANConfig(layers=((True, 16, 4), (True, 8, 1)))
    with pytest.raises(RecallsegError, match=r"first resolution '64'. Known: 4, 8, 16, 32"):
        BigGANConfig.at(64, first_side=64)
    with pytest.raises(RecallsegError, match=r"truncation is above 0 and at most 1, not 0\.0"):
        BigGAN(TINY)(torch.zeros(1, 128), torch.tensor([0]), 0.0)
