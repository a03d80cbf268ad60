import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from recallseg.errors import RecallsegError
from recallseg.model import DeepLabV2, DeepLabV3, scaled_dilations


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def count(decoder: DeepLabV2) -> int:
    return sum(parameter.numel() for parameter in decoder.parameters())


def random_decoder(channels: int = 5, classes: int = 3) -> DeepLabV2:
    """A decoder whose biases are not zero, so that a forgotten bias shows."""
    decoder = DeepLabV2(channels, classes, dilations=(3, 6, 9, 12))
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter)
    return decoder


def reference(decoder: DeepLabV2, features: Tensor) -> Tensor:
    state = decoder.state_dict()
    branches = [
        F.conv2d(
            features,
            state[f"branches.{i}.weight"],
            state[f"branches.{i}.bias"],
            padding=dilation,
            dilation=dilation,
        )
        for i, dilation in enumerate((3, 6, 9, 12))
    ]
    return torch.stack(branches).sum(0)


def total_bias(decoder: DeepLabV2) -> Tensor:
    biases = [value for key, value in decoder.state_dict().items() if key.endswith("bias")]
    return torch.stack(biases).sum(0)


@pytest.mark.parametrize(("classes", "parameters"), [(21, 1_548_372), (2, 147_464)])
def test_parameter_counts_of_the_paper(classes: int, parameters: int) -> None:
    assert count(DeepLabV2(2048, classes, dilations=scaled_dilations(8))) == parameters


@pytest.mark.parametrize(
    ("stride", "dilations"),
    [(8, (6, 12, 18, 24)), (16, (3, 6, 9, 12)), (4, (12, 24, 36, 48)), (32, (1, 3, 4, 6))],
)
def test_dilations_scale_with_the_stride(stride: int, dilations: tuple[int, ...]) -> None:
    assert scaled_dilations(stride) == dilations
    assert min(scaled_dilations(128)) == 1


def test_checkpoint_is_plain_convolutions_drawn_small_with_zero_bias() -> None:
    state = DeepLabV2(64, 3, dilations=(1, 2)).state_dict()
    assert {key: tuple(value.shape) for key, value in state.items()} == {
        "branches.0.weight": (3, 64, 3, 3),
        "branches.0.bias": (3,),
        "branches.1.weight": (3, 64, 3, 3),
        "branches.1.bias": (3,),
    }
    assert state["branches.0.weight"].std().item() == pytest.approx(0.01, rel=0.1)
    assert not any(value.any() for key, value in state.items() if key.endswith("bias"))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("size", [(13, 13), (7, 20), (1, 1)])
def test_forward_is_the_sum_of_four_convolutions(
    size: tuple[int, int], layout: torch.memory_format
) -> None:
    decoder = random_decoder()
    features = torch.randn(2, 5, *size).contiguous(memory_format=layout)
    torch.testing.assert_close(
        decoder(features), reference(decoder, features), atol=1e-5, rtol=1e-5
    )


def test_gradients_are_those_of_four_convolutions() -> None:
    decoder = random_decoder().double()
    features = torch.randn(2, 5, 13, 13, dtype=torch.float64, requires_grad=True)
    ours = torch.autograd.grad(decoder(features).square().sum(), [features, *decoder.parameters()])
    called = sum(branch(features) for branch in decoder.branches)
    assert isinstance(called, Tensor)
    theirs = torch.autograd.grad(called.square().sum(), [features, *decoder.parameters()])
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_random_growth_keeps_old_channels_bit_for_bit() -> None:
    decoder = random_decoder(64)
    before = {key: value.clone() for key, value in decoder.state_dict().items()}
    decoder.grow(2)
    assert decoder.classes == 5
    for key, value in decoder.state_dict().items():
        assert torch.equal(value[:3], before[key])
        assert value.shape[0] == 5
    added = decoder.state_dict()["branches.1.weight"][3:]
    assert added.std().item() == pytest.approx(0.01, rel=0.1)
    assert not total_bias(decoder)[3:].any()
    assert decoder(torch.randn(1, 64, 4, 4)).shape == (1, 5, 4, 4)


def test_growth_keeps_dtype_and_what_is_frozen() -> None:
    decoder = random_decoder().to(torch.bfloat16).requires_grad_(False)
    decoder.grow(1)
    decoder.grow(1, init="background")
    for parameter in decoder.parameters():
        assert parameter.dtype == torch.bfloat16
        assert not parameter.requires_grad
        assert parameter.shape[0] == 5


def test_background_growth_shares_the_background_as_mib() -> None:
    decoder = random_decoder().double()
    features = torch.randn(2, 5, 6, 6, dtype=torch.float64)
    before, biases = decoder(features).softmax(1), total_bias(decoder)
    decoder.grow(4, init="background")
    after = decoder(features).softmax(1)
    expected = biases[0] - math.log(5)
    torch.testing.assert_close(total_bias(decoder)[[0, 3, 4, 5, 6]], expected.expand(5))
    torch.testing.assert_close(total_bias(decoder)[1:3], biases[1:3], atol=0, rtol=0)
    torch.testing.assert_close(after[:, 0] * 5, before[:, 0])
    torch.testing.assert_close(after[:, 1:3], before[:, 1:3])


def test_a_neck_is_a_linear_map_and_a_relu_before_the_branches() -> None:
    decoder = DeepLabV2(6, 3, dilations=(1, 2), neck=4)
    features = torch.randn(2, 6, 5, 5)
    assert decoder.neck is not None
    narrow = torch.einsum("oc,bchw->bohw", decoder.neck.weight[:, :, 0, 0], features)
    narrow = (narrow + decoder.neck.bias[:, None, None]).clamp(min=0)
    by_hand = sum(branch(narrow) for branch in decoder.branches)
    torch.testing.assert_close(decoder(features), by_hand, atol=1e-6, rtol=1e-4)
    decoder.grow(2)
    assert decoder(features).shape == (2, 5, 5, 5)


def test_the_older_decoders_files_still_fit() -> None:
    names = list(DeepLabV2(4, 2, dilations=(1, 2), neck=3).state_dict())
    branches = [f"branches.{i}.{part}" for i in (0, 1) for part in ("weight", "bias")]
    assert names == ["neck.weight", "neck.bias", *branches]


def test_deeplab_v3_has_the_parameters_of_its_description() -> None:
    """1×1, three 3×3 and pooling to 256, 1280 to 256, two numbers a channel of BatchNorm."""
    dilations = scaled_dilations(16, DeepLabV3.rates, DeepLabV3.rates_at)
    assert dilations == (6, 12, 18)
    assert scaled_dilations(8, DeepLabV3.rates, DeepLabV3.rates_at) == (12, 24, 36)
    with torch.device("meta"):
        decoder = DeepLabV3(2048, 21, dilations=dilations)
    pyramid = 2048 * 256 * (1 + 3 * 9 + 1) + 5 * 256 * 256
    assert count(decoder) == pyramid + 6 * 2 * 256 + 256 * 21 + 21


def small_v3(**options: int) -> DeepLabV3:
    decoder = DeepLabV3(6, 3, dilations=(1, 2), **options)
    for name, tensor in decoder.state_dict().items():
        if "norm" in name and tensor.is_floating_point():
            tensor.copy_(torch.rand_like(tensor) + 0.5)
    torch.nn.init.normal_(decoder.classifier.weight)
    torch.nn.init.normal_(decoder.classifier.bias)
    return decoder.eval().requires_grad_(False)


def test_deeplab_v3_is_its_description_step_by_step() -> None:
    decoder = small_v3(neck=4)
    features = torch.randn(2, 6, 5, 7)
    state = decoder.state_dict()

    def block(name: str, given: Tensor, dilation: int = 1) -> Tensor:
        weight, norm = state[f"{name}.conv.weight"], f"{name}.norm"
        padding = weight.shape[-1] // 2 * dilation
        seen = F.conv2d(given, weight, padding=padding, dilation=dilation)
        mean, var = (state[f"{norm}.running_{each}"][:, None, None] for each in ("mean", "var"))
        scale, shift = (state[f"{norm}.{each}"][:, None, None] for each in ("weight", "bias"))
        normal = (seen - mean) / (var + 1e-5).sqrt() * scale + shift
        return normal.where(normal > 0, 0.01 * normal)

    narrow = F.conv2d(features, state["neck.weight"], state["neck.bias"]).clamp(min=0)
    maps = [block(f"pyramid.{i}", narrow, dilation) for i, dilation in enumerate((1, 1, 2))]
    pooled = block("pooled", narrow.mean((2, 3), keepdim=True))
    together = torch.cat([*maps, pooled.repeat(1, 1, 5, 7)], dim=1)
    seen = block("projection", together)
    by_hand = F.conv2d(seen, state["classifier.weight"], state["classifier.bias"])
    torch.testing.assert_close(decoder(features), by_hand, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(decoder.plain(features), by_hand, atol=1e-4, rtol=1e-4)


def test_only_the_classifier_of_deeplab_v3_grows() -> None:
    decoder = small_v3().double()
    features = torch.randn(2, 6, 5, 5, dtype=torch.float64)
    before = decoder(features)
    decoder.grow(2)
    assert decoder.classes == 5
    torch.testing.assert_close(decoder(features)[:, :3], before)
    shared = decoder(features).softmax(1)
    decoder.grow(3, init="background")
    after = decoder(features).softmax(1)
    torch.testing.assert_close(after[:, [0, 5, 6, 7]] * 4, shared[:, [0] * 4])
    torch.testing.assert_close(after[:, 1:5], shared[:, 1:5])


def test_deeplab_v3_refuses_what_batchnorm_cannot_learn_from() -> None:
    decoder = DeepLabV3(6, 3, dilations=(1,)).train()
    with pytest.raises(RecallsegError, match=r"batches of one photo.*increment\.batch"):
        decoder(torch.randn(1, 6, 5, 5))
    moved = decoder.pooled.norm.running_mean.clone()
    decoder(torch.randn(2, 6, 5, 5))
    assert not torch.equal(decoder.pooled.norm.running_mean, moved)


def test_a_channel_may_start_as_another() -> None:
    decoder = DeepLabV2(4, 3, dilations=(1, 2), init_std=1.0)
    decoder.grow(2, "similar")
    decoder.start_as({4: 1})
    logits = decoder(torch.randn(2, 4, 5, 5))
    assert torch.equal(logits[:, 4], logits[:, 1])
    assert not torch.equal(logits[:, 3], logits[:, 1])
