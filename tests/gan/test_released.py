"""Generators as people have them: folders with config.json and weights."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.errors import RecallsegError
from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.generator import load_generator
from recallseg.gan.named_tensors import class_names, save_named
from recallseg.gan.released import read_config, weights_file
from recallseg.replay.gan_images import GanSource
from recallseg.replay.gan_source import GanSettings

TINY = dataclasses.replace(BigGANConfig.at(64, channel_width=4, num_classes=5), eps=0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "biggan-deep-64"
    path.mkdir()
    torch.manual_seed(0)
    torch.save(BigGAN(TINY).state_dict(), path / "pytorch_model.bin")
    public = {key: value for key, value in dataclasses.asdict(TINY).items() if key != "first_side"}
    (path / "config.json").write_text(json.dumps({"architectures": ["BigGAN"], **public}))
    return path


def test_the_configuration_is_the_files(folder: Path) -> None:
    assert read_config(folder) == TINY
    loaded = load_generator(folder)
    assert loaded.config == TINY
    assert load_generator(folder / "pytorch_model.bin").config.eps != TINY.eps
    stored = torch.load(folder / "pytorch_model.bin", weights_only=True)
    assert all(torch.equal(stored[key], tensor) for key, tensor in loaded.state_dict().items())


def test_safetensors_go_before_pickles_and_may_name_their_classes(folder: Path) -> None:
    assert class_names(folder) is None
    other = BigGAN(TINY).state_dict()
    save_named(folder / "model.safetensors", other, ["a", "b", "c", "d", "e"])
    assert weights_file(folder) == folder / "model.safetensors"
    weight = load_generator(folder).embeddings.weight
    assert torch.equal(weight, other["embeddings.weight"])
    assert class_names(folder) == ("a", "b", "c", "d", "e")


def test_a_folder_is_a_replay_source(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALLSEG_DATA", str(folder.parent))
    for path in (folder, Path(folder.name)):
        source = GanSettings(path=path).open()
        assert isinstance(source, GanSource)
        assert source.generator.config == TINY


def test_a_folder_can_be_sampled(folder: Path, tmp_path: Path) -> None:
    words = ["gan", "sample", str(folder), "-o", str(tmp_path / "sheet.png"), "--per-class", "2"]
    assert CliRunner().invoke(app, [*words, "--classes", "1,4"]).exit_code == 0
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape[0] == 2 + 2 * (64 + 2)


def test_what_is_missing_is_one_sentence(folder: Path, tmp_path: Path) -> None:
    (folder / "pytorch_model.bin").rename(tmp_path / "kept.bin")
    with pytest.raises(RecallsegError, match=r"holds no weights of a generator; expected one file"):
        load_generator(folder)
    for name in ("a.bin", "b.bin"):
        (folder / name).write_bytes((tmp_path / "kept.bin").read_bytes())
    with pytest.raises(RecallsegError, match=r"several files of weights: a\.bin, b\.bin; name one"):
        load_generator(folder)
    (folder / "b.bin").rename(folder / "b.txt")
    (folder / "config.json").rename(folder / "biggan-deep-64-config.json")
    assert load_generator(folder).config == TINY
    (folder / "config.json").write_text("{}")
    with pytest.raises(RecallsegError, match=r"it has several: biggan-deep-64-config\.json, c"):
        load_generator(folder)
    for file in folder.glob("*.json"):
        file.unlink()
    with pytest.raises(RecallsegError, match=r"must hold one config\.json .* it has none"):
        load_generator(folder)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not json", r"config\.json cannot be read as JSON: "),
        ("[1]", "lacks output_dim or layers"),
        ('{"model_type": "bert"}', "lacks output_dim or layers"),
        ('{"output_dim": 64, "layers": [[true, 2]]}', r"generator: layers\.0\.2: field required"),
        ('{"output_dim": "big", "layers": []}', r"generator: output_dim: input should be a valid"),
        ('{"output_dim": 64, "layers": [[true, 2, 1]]}', "make images of 8 px"),
        ('{"output_dim": 8, "layers": [[true, 2, 1]], "n_stats": 0}', "at least 1: .* n_stats 0"),
    ],
)
def test_a_configuration_that_describes_no_generator(
    folder: Path, text: str, sentence: str
) -> None:
    (folder / "config.json").write_text(text)
    with pytest.raises(RecallsegError, match=sentence) as caught:
        load_generator(folder)
    assert "\n" not in str(caught.value)


def test_weights_of_another_size_than_described(folder: Path) -> None:
    described = json.loads((folder / "config.json").read_text()) | {"num_classes": 7}
    (folder / "config.json").write_text(json.dumps(described))
    with pytest.raises(RecallsegError, match=r"embeddings\.weight \(128, 5\) instead of \("):
        load_generator(folder)


class Payload:
    """Something that only an unsafe unpickler would build."""


def test_broken_and_unsafe_weights_are_refused(folder: Path) -> None:
    torch.save({"a": Payload()}, folder / "pytorch_model.bin")
    with pytest.raises(RecallsegError, match=r"pytorch_model\.bin could not be read: Weights only"):
        load_generator(folder)
    save_file({"a": torch.zeros(1)}, folder / "model.safetensors")
    (folder / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(RecallsegError, match=r"model\.safetensors could not be read: "):
        load_generator(folder)
