import pytest
from safetensors.numpy import load_file
from tiny import tiny_config

from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.experiments.forgetting import bench_forgetting
from recallseg.paper import TRIPLE
from recallseg.runs.folder import RunFolder


def means(row):
    return {kind: row[kind] for kind in TRIPLE}


def test_channels_that_are_put_back_bring_back_what_the_new_class_leaves_them(tmp_path):
    run(tiny_config(tmp_path / "voc", increment__iterations_per_class=20), tmp_path / "run")
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    numbers = bench_forgetting(tmp_path / "run", None, None)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == kept
    folder, rows = RunFolder(tmp_path / "run"), numbers["put_back"]
    assert means(rows["nothing"]) == means(folder.scores(2)["miou"])
    assert means(numbers["before"]) == means(folder.scores(1)["miou"])
    assert list(rows) == [
        "nothing",
        "channels of old classes",
        "channels of old classes and background",
    ]
    # The classifier alone learned, so that its old channels see what they saw before.
    before, back = (
        row["old_pixels"]
        for row in (numbers["before"], rows["channels of old classes and background"])
    )
    assert all(back[name] <= before[name] + 1e-9 for name in before if name != "a new class")
    assert sum(back.values()) == pytest.approx(100, abs=1e-3)
    assert rows["nothing"]["old_pixels"] != back


def test_how_far_channels_moved_is_in_percent_of_their_length(tmp_path):
    run(tiny_config(tmp_path / "voc", increment__iterations_per_class=2), tmp_path / "run")
    moved = bench_forgetting(tmp_path / "run", 1, photos=2)["moved"]
    old, new = (load_file(tmp_path / f"run/step-{step}/decoder.safetensors") for step in (0, 1))
    names = [name for name in old if name.endswith("weight")]
    square = sum(((new[name][3] - old[name][3]) ** 2).sum() for name in names)
    length = sum((old[name][3] ** 2).sum() for name in names)
    assert moved["bird"] == pytest.approx(100 * (square / length) ** 0.5, abs=0.01)


@pytest.fixture
def weights(monkeypatch):
    """The decoder's weights that were measured, by what was put back."""
    seen = {}

    def watched(session, model, *rest, name):
        seen[name] = {key: value.clone() for key, value in model.decoder.all_weights().items()}
        seen[name] |= {f"encoder.{key}": value for key, value in model.encoder.state_dict().items()}
        return evaluate(session, model, *rest, name=name)

    monkeypatch.setattr("recallseg.experiments.forgetting.evaluate", watched)
    return seen


def changed(one, other):
    """The parts that differ between two sets of weights; of a classifier the old channels count."""
    differing = {
        name
        for name, old in one.items()
        if not old.equal(other[name][: len(old)] if old.ndim else other[name])
    }
    return {name.split(".")[0] for name in differing}


def test_everything_that_learned_can_be_put_back(tmp_path, weights):
    shape = {"model__neck": 8, "model__neck_stride": 16, "model__output_stride": 32}
    run(tiny_config(tmp_path / "voc", model__tail="decoder", **shape), tmp_path / "run")
    bench_forgetting(tmp_path / "run", 1, photos=2)
    before = weights.pop("before the step")
    assert {name: changed(before, after) for name, after in weights.items()} == {
        "nothing": {"tail", "neck", "branches"},
        "channels of old classes": {"tail", "neck", "branches"},
        "channels of old classes and background": {"tail", "neck"},
        "tail": {"neck", "branches"},
        "neck": {"tail", "branches"},
        "all that the classifier sees": {"branches"},
        "all that was there": set(),
    }
    kept_background = weights["channels of old classes"]["branches.0.weight"]
    assert kept_background[1:19].equal(before["branches.0.weight"][1:])
    assert kept_background[0].equal(weights["nothing"]["branches.0.weight"][0])


def test_photos_may_be_fewer(tmp_path):
    run(tiny_config(tmp_path / "voc"), tmp_path / "run")
    assert bench_forgetting(tmp_path / "run", 1, photos=2)["photos"] == 2


def test_an_encoder_that_learned_on_is_put_back_too(tmp_path, weights):
    run(tiny_config(tmp_path / "voc", method__train_encoder=True), tmp_path / "run")
    bench_forgetting(tmp_path / "run", 2, photos=2)
    before = weights.pop("before the step")
    assert changed(before, weights["nothing"]) == {"encoder", "branches"}
    assert changed(before, weights["encoder"]) == {"branches"}
    assert changed(before, weights["all that was there"]) == set()


def test_after_step_0_nothing_was_forgotten(tmp_path):
    run(tiny_config(tmp_path / "voc"), tmp_path / "run")
    with pytest.raises(RecallsegError, match="no later step"):
        bench_forgetting(tmp_path / "run", 0, None)
    with pytest.raises(RecallsegError, match="has no step 9; it has 0, 1, 2"):
        bench_forgetting(tmp_path / "run", 9, None)
