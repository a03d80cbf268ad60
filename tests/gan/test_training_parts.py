"""What a generator is trained with: augmentation, adversaries, a guide and statistics."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from recallseg.errors import RecallsegError
from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.generator import truncated_noise
from recallseg.gan.training.augment import augment, cut_out, recolour, translate
from recallseg.gan.training.discriminators import DISCRIMINATORS, build_discriminator
from recallseg.gan.training.fresh_generator import finished, trainable_generator
from recallseg.gan.training.guide import Guide, drawn_from
from recallseg.gan.training.images import ClassFolder, Draws
from recallseg.gan.training.judging import ClassScore
from recallseg.gan.training.statistics import STREAM, standing_statistics
from recallseg.model import Encoder

TINY = replace(BigGANConfig.at(32, channel_width=4, num_classes=3), n_stats=3)


@pytest.fixture(scope="module")
def trained() -> BigGAN:
    """A generator whose weights have moved."""
    torch.manual_seed(0)
    generator = trainable_generator(TINY)
    with torch.no_grad():
        for name, parameter in generator.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.5)
    return generator


@pytest.fixture(scope="module")
def plain(trained):
    return finished(trained, [each.detach() for each in trained.parameters()])


def middle(size, rows=2):
    return torch.full((rows, size), 0.5)


def test_draws_in_the_middle_change_nothing():
    images = torch.randn(2, 3, 16, 16)
    torch.testing.assert_close(recolour(images, middle(2, 3)), images)
    assert torch.equal(translate(images, middle(2)), images)


def test_colours_change_by_the_papers_formulas():
    """One red pixel and one grey: brightness +0.25, then no saturation, then contrast × 1.25."""
    image = torch.tensor([[0.8, 0.2], [0.2, 0.2], [0.2, 0.2]]).view(1, 3, 1, 2)
    out = recolour(image, torch.tensor([[0.75], [0.0], [0.75]]))
    bright = torch.tensor([0.4 + 0.25, 0.2 + 0.25])
    expected = 0.55 + (bright - 0.55) * 1.25
    torch.testing.assert_close(out, expected.view(1, 1, 1, 2).expand(1, 3, 1, 2))


def test_images_move_by_an_eighth_at_most_and_leave_grey_behind():
    image = torch.arange(1.0, 257).view(1, 1, 16, 16)
    down_right = translate(image, torch.tensor([[0.0], [0.0]]))
    assert torch.equal(down_right[..., 2:, 2:], image[..., :-2, :-2])
    assert down_right[..., :2, :].abs().sum() == down_right[..., :2].abs().sum() == 0
    up = translate(image, torch.tensor([[0.999], [0.5]]))
    assert torch.equal(up[..., :-2, :], image[..., 2:, :])


def test_cutout_blanks_a_square_of_half_the_side():
    holes = cut_out(torch.ones(2, 3, 8, 8), torch.tensor([[0.5, 0.0], [0.5, 0.0]])) == 0
    assert holes[0].sum() == 3 * 4 * 4
    assert holes[0, :, 2:6, 2:6].all()
    assert holes[1].sum() == 3 * 2 * 2
    assert holes[1, :, :2, :2].all()


def test_augmentation_lets_gradients_through_and_knows_nothing_but_the_image():
    images = torch.rand(3, 3, 8, 8, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x: augment(x, np.random.default_rng(5)), images, fast_mode=True
    )
    others = torch.cat([images[:1], torch.rand(2, 3, 8, 8).double()])
    one, two = (augment(x, np.random.default_rng(5)) for x in (images, others))
    assert torch.equal(one[0], two[0])
    assert not torch.equal(one[0], augment(images, np.random.default_rng(6))[0])


def test_a_score_is_a_sum_of_two_products():
    score = ClassScore(2, 3)
    with torch.no_grad():
        score.any_class.weight.copy_(torch.tensor([[1.0, 2.0]]))
        score.any_class.bias.fill_(0.5)
        score.per_class.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]))
    features = torch.tensor([[3.0, 4.0], [3.0, 4.0]])
    assert score(features, torch.tensor([0, 1])).tolist() == [11.5 + 3, 11.5 + 4]


@pytest.fixture(scope="module")
def discriminators():
    torch.manual_seed(0)
    return {name: build_discriminator(name, TINY, encoder_side=64) for name in DISCRIMINATORS}


@pytest.mark.parametrize(("name", "scores"), [("projected", 4), ("plain", 1)])
def test_discriminators_tell_classes_and_send_gradients_to_images(discriminators, name, scores):
    discriminator = discriminators[name].train()
    images = torch.rand(2, 3, 32, 32).mul(2).sub(1).requires_grad_()
    seen = discriminator.see(images)
    found = discriminator.judge(seen, torch.tensor([0, 2]))
    assert found.shape == (2, scores)
    found.sum().backward()
    assert (images.grad.abs().sum((1, 2, 3)) > 0).all()
    discriminator.eval()
    zero, one = (discriminator.judge(seen, torch.full((2,), each)) for each in (0, 1))
    assert ((zero - one).abs() > 1e-4).all()


def test_weights_of_discriminators_have_a_spectral_norm_of_one(discriminators):
    discriminator = discriminators["plain"].train()
    layers = [m for m in discriminator.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    layers += [m for m in discriminator.modules() if isinstance(m, nn.Embedding)]
    assert len(layers) == 1 + 3 * 4 + 2
    for layer in layers:
        for _ in range(50):
            _ = layer.weight
        norm = torch.linalg.matrix_norm(layer.weight.flatten(1), 2).item()
        assert norm == pytest.approx(1, abs=0.05)


def test_the_projected_discriminator_sees_what_the_encoder_sees(discriminators):
    """`Encoder` takes images in [0,1] and normalises them by itself."""
    discriminator = discriminators["projected"]
    images = torch.rand(2, 3, 64, 64)
    features = Encoder(output_stride=32).eval()(images)
    with torch.no_grad():
        expected = discriminator.mixers[-1](features)
        torch.testing.assert_close(discriminator.see(2 * images - 1)[-1], expected)
        spreads = [maps.std().item() for maps in discriminator.see(2 * images - 1)]
        assert all(0.2 < spread < 3 for spread in spreads)
        assert discriminator.see(images[..., ::2, ::2])[-1].shape == expected.shape


def test_the_encoder_stays_as_it_is_in_training_mode(discriminators):
    discriminator = discriminators["projected"].train()
    learning = {name for name, each in discriminator.named_parameters() if each.requires_grad}
    assert learning
    assert all(name.startswith("heads.") for name in learning)
    assert discriminator.training
    assert not any(module.training for module in discriminator.encoder.modules())


def test_unknown_discriminators_are_refused():
    with pytest.raises(RecallsegError, match=r"discriminator 'x'. Known: projected, plain"):
        build_discriminator("x", TINY, 32)


@torch.no_grad()
def test_a_finished_generator_makes_the_images_of_the_trained_one(trained, plain):
    noise, classes = truncated_noise(6), torch.arange(6) % 3
    expected = trained.train()(noise, classes)
    torch.testing.assert_close(plain.train()(noise, classes), expected, atol=1e-5, rtol=0)
    weights = plain.generator.layers[0].conv_0.weight.flatten(1)
    torch.testing.assert_close(weights @ weights.T, torch.eye(len(weights)), atol=1e-5, rtol=0)
    assert not plain.generator.conv_to_rgb.weight[3:].any()
    assert plain.embeddings.weight.norm(dim=0).min() > 8


def test_a_guide_finds_noise_for_an_image_of_any_size():
    torch.manual_seed(0)
    guide, classes = Guide(6, 3), torch.tensor([0, 2])
    mean, spread = guide(torch.rand(2, 3, 32, 32), classes)
    assert mean.shape == spread.shape == (2, 6)
    assert torch.equal(drawn_from(mean, spread, torch.zeros(2, 6)), mean)
    apart = drawn_from(mean, spread, torch.ones(2, 6)) - mean
    torch.testing.assert_close(apart.log() * 2, spread)
    assert guide(torch.rand(0, 3, 32, 32), classes[:0])[0].shape == (0, 6)


@torch.no_grad()
def test_statistics_stand_for_all_batches_of_a_truncation(plain):
    """The first norm's input does not depend on any batch: it is linear in noise and class."""
    standing_statistics(plain, batch=8, batches=4, seed=7)
    assert not plain.training
    norm = plain.generator.layers[0].bn_0
    for row, truncation in ((0, 0.0), (1, 0.5), (2, 1.0)):
        conditions = []
        for number in range(4):
            seed = (STREAM, 7, row, number)
            classes = torch.from_numpy(np.random.default_rng(seed).integers(3, size=8))
            noise = truncated_noise(8, 128, truncation, seed)
            conditions.append(torch.cat([noise, plain.embeddings.weight.T[classes]], dim=1))
        first = plain.generator.gen_z(torch.cat(conditions)).view(-1, 64)
        torch.testing.assert_close(norm.running_means[row], first.mean(0))
        torch.testing.assert_close(norm.running_vars[row], first.var(0, correction=0))
    spreads = norm.running_vars.mean(1).tolist()
    assert spreads[0] * 1.01 < spreads[1] < spreads[2] / 1.01


@torch.no_grad()
def test_samples_look_like_those_of_a_batch(trained, plain):
    """Unlike those of a generator with a new one's statistics, or those of another truncation."""
    noise, classes = truncated_noise(96, seed=9), torch.arange(96) % 3
    batch = trained.train()(noise, classes)

    def distance(truncation):
        return (plain(noise, classes, truncation) - batch).square().mean().sqrt().item()

    for name, tensor in plain.named_buffers():
        tensor.fill_(name.endswith("vars"))
    unknown = distance(1.0)
    standing_statistics(plain, batch=24, batches=6)
    assert 3 * distance(1.0) < min(unknown, distance(0.001))


def draw(root, counts, size=(12, 8)):
    for name, count in counts.items():
        (root / name).mkdir(parents=True)
        for number in range(count):
            Image.new("RGB", size, (number, 0, 200)).save(root / name / f"{number:02}.png")
    return root


def test_a_folder_is_read_class_by_class(tmp_path):
    folder = ClassFolder.open(draw(tmp_path / "data", {"b": 3, "a": 21, "c": 1, ".hidden": 1}))
    assert folder.names == ("a", "b", "c")
    assert folder.labels.tolist() == [0] * 21 + [1] * 3 + [2]
    held_out = [folder.held_out[folder.labels == label].sum().item() for label in range(3)]
    assert held_out == [2, 1, 0]
    pixels = folder.read(4)
    assert pixels.shape == (25, 3, 4, 4)
    assert pixels[22, :, 0, 0].tolist() == [1, 0, 200]
    before = folder.signature()
    (tmp_path / "data/a/00.png").unlink()
    assert ClassFolder.open(tmp_path / "data").signature() != before


def test_squares_are_cut_from_the_middle(tmp_path):
    photo = Image.new("RGB", (12, 4), "white")
    photo.paste("black", (4, 0, 8, 4))
    draw(tmp_path, {"a": 1, "b": 1})
    photo.save(tmp_path / "a/00.png")
    assert ClassFolder.open(tmp_path).read(4)[0].max() == 0


def test_every_class_is_drawn_as_often_and_the_rest_is_chance():
    pixels = torch.arange(10, dtype=torch.uint8).view(-1, 1, 1, 1).expand(10, 3, 2, 2).clone()
    pixels[..., 0] = 255
    draws = Draws(pixels, torch.tensor([0] * 9 + [1]))
    images, labels = draws.batch(400, np.random.default_rng(1))
    assert images.min() == -1
    assert images.max() == 1
    assert 0.4 < labels.float().mean() < 0.6
    shown = ((images[:, 0, 0].min(1).values + 1) * 127.5).round().long()
    assert set(shown[labels == 0].tolist()) == set(range(9))
    assert set(shown[labels == 1].tolist()) == {9}
    mirrored = images[:, 0, 0, 1] == 1
    assert 0.4 < mirrored.float().mean() < 0.6
    again = draws.batch(400, np.random.default_rng(1))
    assert torch.equal(again[0], images)
    upright = Draws(pixels, draws.labels, mirror=False).batch(400, np.random.default_rng(1))
    assert (upright[0][..., 0] == 1).all()
    assert torch.equal(upright[1], labels)


def test_folders_that_cannot_be_learned_from(tmp_path):
    with pytest.raises(RecallsegError, match=r"gone does not exist; give one with a sub-folder"):
        ClassFolder.open(tmp_path / "gone")
    root = draw(tmp_path / "data", {"a": 2})
    with pytest.raises(RecallsegError, match=r"has 1 sub-folder\(s\); .* at least two classes"):
        ClassFolder.open(root)
    (root / "b").mkdir()
    (root / "b/notes.txt").write_text("no image")
    with pytest.raises(RecallsegError, match=r"b holds no images \(\.jpg, "):
        ClassFolder.open(root)
    (root / "b/broken.jpg").write_bytes(b"no image either")
    with pytest.raises(RecallsegError, match=r"broken\.jpg cannot be read: it is not an image"):
        ClassFolder.open(root).read(32)
