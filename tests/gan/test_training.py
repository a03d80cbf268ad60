"""`recallseg gan train` on two classes of plain colours."""

import dataclasses
import inspect
import json
import shutil
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image
from tiny import tiny_config
from typer.testing import CliRunner

from recallseg.cli.gan import train
from recallseg.cli.main import app
from recallseg.engine.old_classes.lessons import lesson_of
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.errors import RecallsegError
from recallseg.gan.generator import load_generator, sample
from recallseg.gan.named_tensors import class_names
from recallseg.gan.own_classifier import build_classifier
from recallseg.gan.training import GanSettings, runner, train_generator
from recallseg.gan.training import players as players_module
from recallseg.gan.training.images import ClassFolder, Draws
from recallseg.gan.training.loop import play
from recallseg.gan.training.players import Players
from recallseg.gan.training.statistics import standing_statistics
from recallseg.replay.step_mapping import box, map_step

COLOURS = {"blue": (40, 40, 220), "red": (220, 40, 40)}
QUICK = GanSettings(
    resolution=32,
    noise=128,
    attention=16,
    iterations=20,
    batch=4,
    width=4,
    seed=1,
    discriminator="plain",
    generator_lr=2e-3,
    discriminator_lr=2e-3,
    ema=0.9,
    sheet_every=15,
    guidance=0.0,
    first_side=4,
)
SHORT = dataclasses.replace(
    QUICK,
    iterations=3,
    discriminator="projected",
    encoder_side=32,
    discriminator_steps=2,
    checkpoint_seconds=0,
)

DIES = """
import json, os, signal, sys
from pathlib import Path
from recallseg.gan.training import loop
from recallseg.gan.training import runner
from recallseg.gan.training import settings
from recallseg.gan.training import GanSettings, train_generator

real = loop.play
runner.trained_classifier = lambda *_: (None, None)
settings.TRUNCATIONS = 2

def play(players, draws, settings, iteration):
    if iteration == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(players, draws, settings, iteration)

loop.play = play
train_generator(Path(sys.argv[1]), Path(sys.argv[2]), GanSettings(**json.loads(sys.argv[3])))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Ten photos of each colour, none quite the same."""
    root, rng = tmp_path_factory.mktemp("gan") / "data", np.random.default_rng(0)
    for name, colour in COLOURS.items():
        (root / name).mkdir(parents=True)
        for number in range(10):
            exact = tuple((np.array(colour) + rng.integers(-20, 20, 3)).tolist())
            Image.new("RGB", (48, 40), exact).save(root / name / f"{number}.png")
    return root


def few_batches(patch, count):
    patch.setattr(
        players_module, "standing_statistics", partial(standing_statistics, batches=count)
    )


@pytest.fixture
def unmeasured(monkeypatch):
    """Training without the classifier, and with rough statistics, to save time."""
    few_batches(monkeypatch, 1)
    monkeypatch.setattr("recallseg.gan.training.settings.TRUNCATIONS", 2)
    monkeypatch.setattr(runner, "trained_classifier", lambda *_: (None, None))
    monkeypatch.setattr(runner, "quality", lambda *_: {})


@pytest.fixture(scope="module")
def toy(data):
    """A generator that was trained for a few seconds, with all that lies beside it."""
    with pytest.MonkeyPatch.context() as patch:
        few_batches(patch, 4)
        patch.setattr("recallseg.gan.training.quality.MEASURED", 8)
        recipe = train_generator(data, data.parent / "out/toy.safetensors", QUICK)
    return data.parent / "out/toy.safetensors", recipe


def mean_colours(generator, count=8):
    return [
        torch.stack([*sample(generator, class_id, count)]).float().mean((0, 2, 3)).tolist()
        for class_id in range(2)
    ]


def is_learned(colours):
    """Both classes clearly have their own colour; those of a new generator are all alike."""
    blue, red = colours
    return blue[2] - blue[0] > 60 and red[0] - red[2] > 60


def test_generated_images_have_the_colour_of_their_class(toy, data):
    path, _ = toy
    assert is_learned(mean_colours(load_generator(path)))
    new = Players.new(QUICK, 2).result(QUICK, whole=False)
    assert not is_learned(mean_colours(new))


def test_files_lie_beside_the_generator(toy):
    path, recipe = toy
    assert {each.name for each in path.parent.iterdir()} == {
        f"toy.{ending}"
        for ending in (
            "safetensors",
            "classifier.safetensors",
            "json",
            "jsonl",
            "png",
            "training.pt",
        )
    }
    assert json.loads((path.parent / "toy.json").read_text()) == recipe
    assert class_names(path) == class_names(path.parent / "toy.classifier.safetensors")
    assert class_names(path) == ("blue", "red")
    with Image.open(path.parent / "toy.png") as sheet:
        assert sheet.height == 2 + 2 * (32 + 2)
        assert sheet.width > 8 * 34
        assert sheet.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    lines = [json.loads(line) for line in (path.parent / "toy.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines if "loss_d" in line] == [*range(20)]


def test_the_recipe_says_what_was_done_and_how_it_came_out(toy):
    _, recipe = toy
    assert recipe["iterations"] == 20
    assert recipe["settings"] == dataclasses.asdict(QUICK)
    assert recipe["data"]["classes"] == {"blue": 10, "red": 10}
    assert recipe["data"]["held_out"] == 2
    assert recipe["classifier"] == {"accuracy": 1.0}
    quality = recipe["quality"]
    assert quality["recognised_by_class"].keys() == COLOURS.keys()
    shares = quality["recognised_by_class"].values()
    assert quality["recognised"] == pytest.approx(sum(shares) / 2)
    assert quality["recognised_of_real"] == 1
    assert quality["fid"] > quality["fid_of_real"] >= 0
    assert {"recallseg", "torch", "timm"} <= recipe["versions"].keys()


def test_statistics_differ_from_truncation_to_truncation(toy):
    generator = load_generator(toy[0])
    means = generator.generator.bn.running_means
    assert len(means) == 11
    steps = (means[1:] - means[:-1]).norm(dim=1)
    assert (steps > 1e-4).all()
    close, wide = (
        torch.stack([*sample(generator, 0, 8, truncation=each)]).float().std(0).mean()
        for each in (0.1, 1.0)
    )
    assert close < wide / 2


def test_a_finished_training_is_not_started_again(toy, data, capsys):
    path, recipe = toy
    assert train_generator(data, path, QUICK) == recipe
    assert "already finished" in capsys.readouterr().err
    with pytest.raises(RecallsegError, match="exists already, from other settings or images"):
        train_generator(data, path, dataclasses.replace(QUICK, seed=2))
    with pytest.raises(RecallsegError, match="already at iteration 20; ask for more than that"):
        train_generator(data, path, dataclasses.replace(QUICK, iterations=10))


def test_a_damaged_generator_is_refused_and_the_command_does_not_call_it_finished(toy, data):
    path, _ = toy
    sound = path.read_bytes()
    try:
        for place in (len(sound) // 2, len(sound) - 1, sound.index(b"blue")):
            path.write_bytes(sound[:place] + bytes([sound[place] ^ 4]) + sound[place + 1 :])
            with pytest.raises(RecallsegError, match="is damaged: it is not what"):
                load_generator(path)
            with pytest.raises(RecallsegError, match=r"toy\.safetensors is damaged"):
                train_generator(data, path, QUICK)
    finally:
        path.write_bytes(sound)
    load_generator(path)


def interrupt(data, path, settings, monkeypatch):
    def stopped(players, draws, settings, iteration):
        if iteration == 2:
            raise KeyboardInterrupt
        return play(players, draws, settings, iteration)

    with monkeypatch.context() as patch:
        patch.setattr("recallseg.gan.training.loop.play", stopped)
        with pytest.raises(KeyboardInterrupt):
            train_generator(data, path, settings)


def kill(data, path, settings, monkeypatch):
    told = json.dumps(dataclasses.asdict(settings))
    words = [sys.executable, "-c", DIES, str(data), str(path), told]
    child = subprocess.run(words, capture_output=True, check=False)
    assert child.returncode == -9, child.stderr


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("stop", "name"),
    [(interrupt, "plain"), pytest.param(kill, "projected", marks=pytest.mark.slow)],
)
def test_a_stopped_training_ends_with_the_same_weights(stop, name, data, tmp_path, monkeypatch):
    """Stopped in the middle; then finished early, and given more iterations."""
    settings = dataclasses.replace(SHORT, discriminator=name)
    peaceful, stopped = tmp_path / "one/x.safetensors", tmp_path / "two/x.safetensors"
    train_generator(data, peaceful, settings)
    stop(data, stopped, settings, monkeypatch)
    assert not stopped.exists()
    checkpoint = stopped.with_name("x.training.pt")
    assert torch.load(checkpoint, weights_only=True)["iteration"] == 2
    train_generator(data, stopped, dataclasses.replace(settings, iterations=2))
    assert stopped.read_bytes() != peaceful.read_bytes()
    train_generator(data, stopped, settings)
    assert stopped.read_bytes() == peaceful.read_bytes()
    stopped.unlink()
    with pytest.raises(RecallsegError, match=r"x\.training\.pt belongs to a training with other"):
        train_generator(data, stopped, dataclasses.replace(settings, batch=5))
    checkpoint.write_bytes(b"broken")
    with pytest.raises(RecallsegError, match=r"x\.training\.pt cannot be read; delete it"):
        train_generator(data, stopped, settings)


def test_the_encoder_never_moves_and_its_heads_do(data):
    folder = ClassFolder.open(data)
    draws = Draws(folder.read(32), folder.labels)
    settings = dataclasses.replace(SHORT, discriminator_steps=1)
    players = Players.new(settings, 2)
    before = {key: value.clone() for key, value in players.discriminator.state_dict().items()}
    weights = [each.clone() for each in players.generator.parameters()]
    for iteration in range(2):  # attention has no gradient until its gamma has left zero
        play(players, draws, settings, iteration)
    after = players.discriminator.state_dict()
    fixed = [key for key in before if key.startswith(("encoder.", "mixers."))]
    assert len(fixed) > 200
    assert all(torch.equal(before[key], after[key]) for key in fixed)
    heads = [key for key in before if key.endswith("original")]
    assert not any(torch.equal(before[key], after[key]) for key in heads)
    moved = [
        not torch.equal(one, other)
        for one, other in zip(weights, players.generator.parameters(), strict=True)
    ]
    assert all(moved)


def test_an_iteration_is_a_function_of_seed_and_number(data):
    folder = ClassFolder.open(data)
    draws = Draws(folder.read(32), folder.labels)
    losses = {}
    for name, seed, iteration in (("a", 0, 5), ("again", 0, 5), ("later", 0, 6), ("other", 1, 5)):
        torch.manual_seed(len(losses))
        settings = dataclasses.replace(QUICK, seed=seed, batch=2)
        losses[name] = play(Players.new(settings, 2), draws, settings, iteration)
    assert losses["a"] == losses["again"]
    assert len(set(losses.values())) == 3


@pytest.mark.usefixtures("unmeasured")
def test_losses_that_are_no_numbers_end_the_training(data, tmp_path, monkeypatch):
    monkeypatch.setattr("recallseg.gan.training.loop.play", lambda *_: (float("nan"), 0.0))
    with pytest.raises(RecallsegError, match="not finite at iteration 0"):
        train_generator(data, tmp_path / "x.safetensors", QUICK)


@pytest.mark.usefixtures("unmeasured")
def test_weights_that_are_no_numbers_are_not_saved(data, tmp_path, monkeypatch):
    def lose(players, *_):
        with torch.no_grad():
            next(iter(players.guide.parameters())).fill_(float("inf"))
        return 0.0, 0.0

    monkeypatch.setattr("recallseg.gan.training.loop.play", lose)
    with pytest.raises(RecallsegError, match="weights are not finite at iteration"):
        train_generator(data, tmp_path / "x.safetensors", QUICK)
    left = {path.suffix for path in tmp_path.glob("x*")}
    assert left <= {".jsonl", ".png"}, "the journal and the sheet of samples alone are left"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"resolution": 96}, "Unknown generator resolution '96'. Known: 32, 64, 128"),
        ({"width": 2}, "channel width is 2; expected .* at least 4"),
        ({"discriminator": "x"}, "Unknown discriminator 'x'. Known: projected, plain"),
        ({"device": "tpu"}, "Unknown device 'tpu'. Known: auto, cpu, cuda"),
        ({"iterations": 0}, "iterations must be at least 1, not 0"),
        ({"batch": 1}, "needs 2 images to be normalised, not 1"),
        ({"seed": -1}, "seed is at least 0, not -1"),
        ({"guided": -1}, "guided is at least 0, not -1"),
        ({"ema": 1.0}, "ema is at least 0 and below 1"),
        ({"generator_lr": 0.0}, "Learning rates are above 0"),
    ],
)
def test_settings_that_cannot_be_trained(changes, sentence):
    with pytest.raises(RecallsegError, match=sentence):
        dataclasses.replace(QUICK, **changes)


def test_no_cuda_is_said_before_anything_else(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RecallsegError, match="torch finds no CUDA device"):
        GanSettings(device="cuda")


def test_places_where_nothing_can_be_written(data, tmp_path):
    with pytest.raises(RecallsegError, match=r"ends in \.safetensors, unlike .*x\.pth"):
        train_generator(data, tmp_path / "x.pth", QUICK)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecallsegError, match=r"output folder .*file cannot be written \(File exi"):
        train_generator(data, tmp_path / "file/x.safetensors", QUICK)


def test_one_image_a_class_is_too_few_to_measure_with(data, tmp_path):
    for name in COLOURS:
        (tmp_path / "data" / name).mkdir(parents=True)
        shutil.copy(data / name / "0.png", tmp_path / "data" / name)
    with pytest.raises(RecallsegError, match="has one image only; give some of them two or more"):
        train_generator(tmp_path / "data", tmp_path / "x.safetensors", QUICK)


def test_broken_images_are_found_before_training(data, tmp_path):
    for name in COLOURS:
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "0.png").write_bytes((data / name / "0.png").read_bytes()[:60])
    with pytest.raises(RecallsegError, match=r"0\.png cannot be read"):
        train_generator(tmp_path / "data", tmp_path / "x.safetensors", QUICK)
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("map_by", ["area", "photos", "boxes"])
def test_a_step_is_mapped_to_the_generators_own_classes(map_by, toy, tmp_path):
    path, _ = toy
    classifier = build_classifier(str(path.with_name("toy.classifier.safetensors")))
    config = tiny_config(tmp_path / "voc", replay__source="gan", replay__gan__map_by=map_by)
    world, session = RunData.open(config), Session.open(config)
    mapping = map_step(
        lesson_of(session, world, world.scenario[2], {}), classifier, config.replay.settings, {}
    )
    assert [*mapping] == ["tvmonitor"]
    assert {match.name for match in mapping["tvmonitor"]} == set(COLOURS)
    assert sum(match.score for match in mapping["tvmonitor"]) == pytest.approx(1)


def test_a_few_photos_of_each_class_are_enough_to_map_it(toy, tmp_path, monkeypatch):
    path, _ = toy
    classifier = build_classifier(str(path.with_name("toy.classifier.safetensors")))
    config = tiny_config(
        tmp_path / "voc",
        replay__source="gan",
        replay__gan__map_by="boxes",
        replay__gan__map_photos=2,
    )
    world, session = RunData.open(config), Session.open(config)
    seen, prepare = [], classifier.prepare
    monkeypatch.setattr(classifier, "prepare", lambda photo: seen.append(photo) or prepare(photo))
    step = world.scenario[0]
    mapping = map_step(lesson_of(session, world, step, {}), classifier, config.replay.settings, {})
    assert set(mapping) == set(world.scenario.names(step.new_classes))
    assert len(step.images) > len(seen) == 2 * len(step.new_classes)


def test_a_box_has_a_margin_inside_the_photo():
    where = np.zeros((40, 50), dtype=bool)
    where[10:30, 2:22] = True
    assert box(where) == (0, 8, 24, 32)
    assert box(np.ones((3, 5), dtype=bool)) == (0, 0, 5, 3)


def call(*words):
    return CliRunner().invoke(app, ["gan", *map(str, words)])


def test_the_command_trains_with_its_options(toy, data):
    """The same settings as options: there is nothing left to train."""
    path, recipe = toy
    options = "--resolution 32 --iterations 20 --batch 4 --width 4 --seed 1 --discriminator plain"
    rates = "--lr-g 2e-3 --lr-d 2e-3 --ema 0.9 --sheet-every 15 --guidance 0 --first-side 4 "
    rates += "--noise 128 --attention 16"
    words = ["train", data, "-o", path, *options.split(), *rates.split()]
    answer = call(*words)
    assert answer.exit_code == 0, answer.output
    assert "20 iterations on 18 images of 2 classes; 2 were held out" in answer.stdout
    assert "held out 100.0%" in answer.stdout
    assert json.loads(call(*words, "--json").stdout) == recipe
    refused = call("train", data.parent / "gone", "-o", path)
    assert isinstance(refused.exception, RecallsegError)
    assert "gone does not exist" in str(refused.exception)


def test_the_commands_defaults_are_those_of_the_settings():
    """They stand in two places, so that `--help` need not load torch."""
    given = inspect.signature(train).parameters
    for field in dataclasses.fields(GanSettings):
        if field.name != "mirror":
            assert given[field.name].default == field.default, field.name


def test_the_command_writes_a_sheet(toy, tmp_path):
    path, _ = toy
    sheet = tmp_path / "sheets/sheet.png"
    words = ["sample", path, "-o", sheet, "--per-class", 3, "--truncation", 0.55]
    assert call(*words, "--classes", "1").exit_code == 0
    with Image.open(sheet) as image:
        assert image.height == 2 + 34
        right = np.array(image)[2:34, -34:-2].mean((0, 1))
    assert right[0] > right[2] + 60
    assert call(*words).exit_code == 0
    with Image.open(sheet) as image:
        assert image.height == 2 + 2 * 34
    for classes, sentence in (
        ("2", "no class 2; its 2 classes"),
        ("red", "takes ids separated by"),
    ):
        assert sentence in str(call(*words, "--classes", classes).exception)
    wrong = call("sample", path, "-o", tmp_path / "sheet.jpg")
    assert "written as .png, unlike" in str(wrong.exception)


def test_a_guide_teaches_colours_before_there_is_an_adversary(data):
    settings = dataclasses.replace(
        QUICK, iterations=40, batch=8, guidance=1.0, guided=30, first_side=8, generator_lr=4e-3
    )
    folder = ClassFolder.open(data)
    draws, players = Draws(folder.read(32), folder.labels), Players.new(settings, 2)
    losses = [play(players, draws, settings, iteration) for iteration in range(40)]
    assert all((loss_d == 0) == (at < 30) for at, (loss_d, _) in enumerate(losses))
    assert losses[29][1] < losses[0][1] / 2
    assert is_learned(mean_colours(players.result(settings, whole=False)))


@pytest.mark.slow
def test_the_projected_discriminator_teaches_colours_too(data):
    settings = dataclasses.replace(
        QUICK,
        discriminator="projected",
        encoder_side=64,
        generator_lr=4e-3,
        discriminator_lr=1e-3,
        iterations=150,
        batch=8,
    )
    folder = ClassFolder.open(data)
    draws, players = Draws(folder.read(32), folder.labels), Players.new(settings, 2)
    for iteration in range(settings.iterations):
        play(players, draws, settings, iteration)
    assert is_learned(mean_colours(players.result(settings, whole=False)))
