import pytest
import torch
import torch.nn.functional as F

from recallseg.model import DeepLabV2, Encoder, Segmenter, scaled_dilations


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def segmenter(neck: int | None = None) -> Segmenter:
    encoder = Encoder("resnet18", weights="none", finest=8 if neck else None)
    dilations = scaled_dilations(encoder.stride)
    return Segmenter(encoder, DeepLabV2(encoder.channels, 4, dilations=dilations, neck=neck))


@pytest.mark.parametrize("neck", [None, 6])
def test_logits_have_the_size_of_the_images(neck: int | None) -> None:
    images = torch.randint(0, 256, (2, 3, 45, 70), dtype=torch.uint8)
    assert segmenter(neck)(images).logits.shape == (2, 4, 45, 70)


def test_forward_is_decoding_encoded_features() -> None:
    model = segmenter()
    images = torch.rand(1, 3, 32, 45)
    features = model.encoder(images)
    by_hand = F.interpolate(
        model.decoder(features), size=(32, 48), mode="bilinear", align_corners=False
    )[..., :45]
    assert torch.equal(model(images).logits, by_hand)
    assert torch.equal(model(features=features, size=(32, 45)).logits, by_hand)
    sparse = model(images, every=4).logits
    torch.testing.assert_close(sparse, by_hand[..., 2::4, 2::4])


def test_it_says_what_it_lacks() -> None:
    with pytest.raises(ValueError, match="give images or their features"):
        segmenter()()
    with pytest.raises(ValueError, match="must come with the size"):
        segmenter()(features=torch.rand(1, 512, 2, 2))
    with pytest.raises(ValueError, match=r"cover \(32, 32\), not \(32, 33\)"):
        segmenter()(features=torch.rand(1, 512, 2, 2), size=(32, 33))


def test_a_frozen_encoder_gets_no_gradient_and_stays_in_eval_mode() -> None:
    model = segmenter()
    model.encoder.freeze()
    model.train()
    model(torch.rand(1, 3, 32, 32)).logits.sum().backward()
    assert all(p.grad is None for p in model.encoder.parameters())
    assert all(p.grad is not None for p in model.decoder.parameters())
    assert not any(module.training for module in model.encoder.modules())
    assert model.decoder.training
