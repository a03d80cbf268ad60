from pathlib import Path

import pytest
from pydantic import ValidationError

from recallseg.config import RunConfig, dump_config, load_config, validate
from recallseg.errors import RecallsegError

CONFIGS = Path(__file__).parents[1] / "configs"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", sorted(CONFIGS.rglob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_file_loads_and_survives_a_round_trip(path, tmp_path):
    config = load_config(path)
    again = load_config(write(tmp_path, "again.yaml", dump_config(config)))
    assert again == config


def test_some_files_are_shipped():
    assert len(list(CONFIGS.rglob("*.yaml"))) >= 4


def test_all_errors_come_at_once_with_their_paths(tmp_path):
    path = write(
        tmp_path, "bad.yaml", "optim: {lr: -1, colour: red}\nseed: x\nviews: {scale: [2, 1]}"
    )
    with pytest.raises(RecallsegError) as error:
        load_config(path)
    lines = str(error.value).splitlines()
    assert len(lines) == 5
    assert any(line.startswith("  optim.lr: ") and "-1" in line for line in lines)
    assert "  optim.colour: no such setting" in lines
    assert any(line.startswith("  seed: ") for line in lines)
    assert any(line.startswith("  views: scale goes from low to high") for line in lines)


def test_a_batch_must_have_room_for_replay(tmp_path):
    path = write(tmp_path, "run.yaml", "replay: {source: folder, ratio: 0}")
    with pytest.raises(RecallsegError, match=r"replay\.ratio: r_old/r_new must be above 0; .*none"):
        load_config(path)
    with pytest.raises(RecallsegError, match=r"file: increment\.batch must be at least 2"):
        load_config(path, ["replay.ratio=1", "increment.batch=1"])
    load_config(path, ["replay.ratio=1", "increment.batch=1", "replay.source=none"])


def test_later_layers_win(tmp_path):
    write(tmp_path, "base.yaml", "preset: paper\noptim: {batch: 7}\nseed: 3")
    path = write(tmp_path, "sub/own.yaml", "extends: ../base.yaml\nseed: 5")
    config = load_config(path, ["optim.lr=0.25", "views.scale=[0.7,1.2]"])
    assert config.model.encoder == "resnet101.tv_in1k"
    assert (config.optim.batch, config.seed, config.optim.lr) == (7, 5, 0.25)
    assert config.views.scale == (0.7, 1.2)


def test_the_paper_preset_is_the_papers_setting(tmp_path):
    config = load_config(write(tmp_path, "paper.yaml", "preset: paper"))
    assert (config.model.output_stride, config.views.crop) == (8, 321)
    assert config.optim == config.increment
    assert (config.optim.lr, config.optim.end_lr, config.optim.power) == (5e-4, 5e-6, 0.9)
    assert (config.optim.batch, config.optim.iterations_per_class) == (4, 1000)
    assert (config.method.inpaint_on, config.replay.label_on) == ("photos", "photos")
    assert not config.replay.filters.present
    assert not config.bank.enabled


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError):
        RunConfig().seed = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "override", "sentence"),
    [
        (
            "preset: nature",
            [],
            "Unknown preset 'nature'. Known: cil, ilt, learn, lwf, lwf_mc, mib, paper, sdr, small",
        ),
        ("- a list", [], "must hold settings"),
        ("seed: [1", [], "not readable YAML"),
        ("extends: own.yaml", [], "extends itself"),
        ("extends: gone.yaml", [], "gone.yaml does not exist"),
        ("seed: 1", ["seed"], "'seed' is not an override"),
    ],
)
def test_bad_files_and_overrides_are_sentences(tmp_path, text, override, sentence):
    with pytest.raises(RecallsegError, match=sentence):
        load_config(write(tmp_path, "own.yaml", text), override)


def test_labels_cannot_be_sparser_than_features():
    values = {"model": {"neck": 8, "neck_stride": 4}, "views": {"label_stride": 8}}
    with pytest.raises(RecallsegError, match=r"label_stride cannot be above the features' stride"):
        validate(values, "the test")


def test_what_differs_by_split_stands_in_one_block(tmp_path):
    text = "seed: 1\nscenario: {spec: 15-1}\nby_split: {15-1: {seed: 2}, 10-1: {seed: 3}}"
    path = write(tmp_path, "own.yaml", text)
    assert load_config(path).seed == 2
    assert load_config(path, ["scenario.spec=10-1"]).seed == 3
    assert load_config(path, ["scenario.spec=19-1"]).seed == 1
    assert load_config(path, ["scenario.spec=10-1", "seed=9"]).seed == 9


def test_files_may_be_laid_over_each_other(tmp_path):
    first = write(tmp_path, "first.yaml", "seed: 1\nviews: {crop: 33}")
    second = write(tmp_path, "second.yaml", "seed: 2")
    config = load_config(first, over=[second])
    assert (config.seed, config.views.crop) == (2, 33)


def test_there_is_one_file_for_a_row_and_splits_are_overrides():
    files = list(CONFIGS.rglob("*.yaml"))
    assert len(files) <= 45
    weights = {
        spec: load_config(CONFIGS / "voc/mib.yaml", [f"scenario.spec={spec}"]).method.weights
        for spec in ("15-1", "10-1")
    }
    assert weights == {"15-1": {"distillation": 100}, "10-1": {}}


@pytest.mark.parametrize(
    "text",
    [
        "data: {name: '${oc.env:SECRET}'}",
        "extends: '${oc.env:SECRET}'",
        "preset: '${oc.env:SECRET}'",
        "scenario: {order: [cat, 'a${oc.env:SECRET}']}",
        "data: {name: '${oc.env:SECRET'}",
        "by_split: {'${oc.env:SECRET}': {seed: 1}}",
    ],
)
def test_a_file_cannot_read_the_environment(tmp_path, monkeypatch, text):
    monkeypatch.setenv("SECRET", "hunter2")
    path = write(tmp_path, "config.yaml", text)
    with pytest.raises(RecallsegError, match=r"holds '\$\{'; .* write the value itself") as error:
        load_config(path)
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


def test_neither_can_what_a_file_extends_nor_an_override(tmp_path):
    write(tmp_path, "base.yaml", "seed: ${oc.env:SECRET}")
    path = write(tmp_path, "own.yaml", "extends: base.yaml\nseed: 1")
    with pytest.raises(RecallsegError, match=r"base\.yaml holds"):
        load_config(path)
    plain = write(tmp_path, "plain.yaml", "seed: 1")
    for word in ("seed=${seed}", "seed=${", "data.name=x${oc.env:HOME}"):
        with pytest.raises(RecallsegError, match=r"The override .* holds"):
            load_config(plain, [word])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("extends: 3", "extends 3; write the name of a file"),
        ("extends: [3]", r"extends \[3\]; write the name of a file"),
        ("extends: {a: b}", "write the name of a file"),
        ("by_split: 3", "by_split must hold settings"),
        ("scenario: {spec: 1-1}\nby_split: {1-1: 3}", r"by_split\.1-1 must hold settings"),
        ("scenario: 3", "scenario: "),
        ("optim: {lr: .inf}", r"optim\.lr: input should be a finite number"),
        ("optim: {lr: .nan}", r"optim\.lr: input should be a finite number"),
        ("method: {weights: {kd: .inf}}", r"method\.weights\.kd: input should be a finite number"),
    ],
)
def test_what_is_no_setting_is_a_sentence(tmp_path, text, sentence):
    with pytest.raises(RecallsegError, match=sentence):
        load_config(write(tmp_path, "run.yaml", text))


def test_an_infinite_rate_is_refused_among_the_overrides(tmp_path):
    plain = write(tmp_path, "plain.yaml", "seed: 1")
    with pytest.raises(RecallsegError, match=r"optim\.lr: input should be a finite number"):
        load_config(plain, ["optim.lr=.inf"])
