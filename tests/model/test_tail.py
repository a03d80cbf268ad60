"""Stages of a network that learn on with the decoder."""

import pytest
import torch

from recallseg.config import ModelConfig, OptimConfig
from recallseg.engine.training.optimisers import build_optimizer
from recallseg.errors import RecallsegError
from recallseg.methods import Batch, plain_loss
from recallseg.model.building import build_model
from recallseg.model.encoders import Encoder
from recallseg.model.tail import Tail


@pytest.mark.parametrize(
    ("name", "output_stride", "finest", "channels"),
    [
        ("efficientnet_lite0", 32, 16, (112, 432)),
        ("efficientnet_lite0", 16, 8, (40, 472)),
        ("resnet18", 32, 8, (128, 128 + 256 + 512)),
        ("repvgg_a0", 32, 16, (192, 192 + 1280)),
    ],
)
def test_an_encoder_and_its_tail_see_what_the_whole_network_sees(
    name, output_stride, finest, channels, tmp_path
):
    options = {"output_stride": output_stride, "finest": finest}
    torch.manual_seed(0)
    whole = Encoder(name, weights="none", **options).eval()
    torch.save(whole.body.state_dict(), tmp_path / "weights.pth")
    weights = str(tmp_path / "weights.pth")
    first = Encoder(name, weights="none", without_tail=True, **options).eval()
    first.body.load_state_dict(whole.body.state_dict(), strict=False)
    tail = Tail(name, weights=weights, **options).eval()
    assert (first.channels, tail.channels) == channels
    assert (first.stride, first.coarsest) == (whole.stride, whole.coarsest)
    images = torch.randint(0, 256, (2, 3, 70, 45), dtype=torch.uint8)
    with torch.no_grad():
        torch.testing.assert_close(tail(first(images)), whole(images))


def small_model(**options):
    torch.manual_seed(0)
    config = ModelConfig(encoder="resnet18", weights="none", neck=8, tail="decoder", **options)
    return build_model(config, 3)


def test_the_tail_learns_at_the_rate_of_pretrained_weights_and_the_encoder_does_not():
    model = small_model().train()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    optim = OptimConfig(lr=0.1, encoder_lr_factor=0.5)
    optimizer = build_optimizer(model, optim)
    batch = Batch(torch.ones(2, 32, 32, dtype=torch.uint8), photos=torch.rand(2, 3, 32, 32))
    plain_loss(model, batch).backward()
    optimizer.step()
    moved = {key for key, value in model.state_dict().items() if not value.equal(before[key])}
    assert not [key for key in moved if key.startswith("encoder.") or "running" in key]
    assert [key for key in moved if key.startswith("decoder.tail.")]
    scales = {id(p): group["scale"] for group in optimizer.param_groups for p in group["params"]}
    assert {scales[id(p)] for p in model.decoder.tail.parameters()} == {0.5}
    assert {scales[id(p)] for p in model.decoder.neck.parameters()} == {1.0}
    assert not any(id(p) in scales for p in model.encoder.parameters())


def test_the_key_of_stored_features_is_not_that_of_the_whole_network():
    torch.manual_seed(0)
    options = {"output_stride": 16, "finest": 16, "weights": "none"}
    whole, first = Encoder("resnet18", **options), Encoder("resnet18", without_tail=True, **options)
    first.body.load_state_dict(whole.body.state_dict(), strict=False)
    assert whole.fingerprint() != first.fingerprint()


@pytest.mark.parametrize("learns", [False, True])
def test_the_first_stages_are_fixed_unless_step_0_shall_train_them(learns):
    encoder = small_model(first_stages="step-0" if learns else None).encoder
    assert encoder.frozen is not learns
    assert all(weight.requires_grad is learns for weight in encoder.train().parameters())


def test_a_network_that_cannot_be_cut_is_refused():
    with pytest.raises(RecallsegError, match="cannot be cut in two"):
        Tail("hrnet_w18_small", output_stride=32, finest=16, weights="none")
